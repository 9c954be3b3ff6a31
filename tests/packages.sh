# packages.sh: Debian packages that are missing are named, then installed. Sourced by
# examples/demo.sh and tests/run.sh.

# need_packages WHAT_FOR PACKAGE...
# Nothing is asked of apt when all are there; a program of the package's name that came another way
# will do (npm is a part of other builds of nodejs). Ends the script when it can not be done.
need_packages() {
    what_for=$1
    shift
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is not a Debian system: nothing is installed. What $what_for needs is in"
        echo "the Debian packages" "$@"
        return
    fi
    missing=
    for package; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            command -v "$package" >/dev/null ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    echo "Missing Debian packages, which $what_for needs:"
    echo "   $missing"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        as_root=sudo
    else
        echo "They can only be installed by root, and sudo cannot be used here. Ask for:"
        echo "    apt-get install$missing"
        exit 1
    fi
    echo "They are installed now ..."
    log=$(mktemp)
    # shellcheck disable=SC2086  # no sudo, many packages
    if { $as_root apt-get -q update &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
            --no-install-recommends install $missing; } >"$log" 2>&1 </dev/null; then
        rm -f "$log"
        return 0
    fi
    echo "apt-get failed:"
    tail -n 20 "$log" | sed 's/^/    /'
    rm -f "$log"
    exit 1
}

# build_tree TEXT FOLDER CMAKE_WORDS...: configured and built; only failures are shown
build_tree() {
    text=$1 folder=$2
    shift 2
    echo "Building $text into $folder/ ..."
    mkdir -p "$folder"
    if ! { cmake "$@" -B "$folder" && cmake --build "$folder" --parallel "$(nproc)"; } \
        >"$folder/build.log" 2>&1; then
        echo "The build failed; all of its output is in $folder/build.log:"
        grep -nE 'error|Error|undefined reference' "$folder/build.log" | head -n 20
        tail -n 20 "$folder/build.log"
        exit 1
    fi
    grep -E 'warning:|left out' "$folder/build.log" | sort -u | head -n 20 || :
}
