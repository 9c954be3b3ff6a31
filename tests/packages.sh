# packages.sh: Debian packages that are missing are named, then installed. Sourced by
# examples/demo.sh and tests/run.sh.

# find_missing PACKAGE...: those that are not installed, each after a space, in $missing
# Nothing is asked of apt when all are there; a program of the package's name that came another way
# will do (npm is a part of other builds of nodejs).
find_missing() {
    missing=
    for package; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            command -v "$package" >/dev/null ||
            missing="$missing $package"
    done
}

is_debian() {
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null
}

# find_root: what a command of root's begins with, in $as_root; fails if there is no way
find_root() {
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        as_root=sudo
    else
        return 1
    fi
}

# install_packages LOG PACKAGE...
install_packages() {
    log=$1
    shift
    # shellcheck disable=SC2086  # no sudo
    { $as_root apt-get -q update &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
            --no-install-recommends install "$@"; } >"$log" 2>&1 </dev/null
}

# need_packages WHAT_FOR PACKAGE...: installed, or the script ends
need_packages() {
    what_for=$1
    shift
    if ! is_debian; then
        echo "This is not a Debian system: nothing is installed. What $what_for needs is in"
        echo "the Debian packages" "$@"
        return
    fi
    find_missing "$@"
    [ -n "$missing" ] || return 0

    echo "Missing Debian packages, which $what_for needs:"
    echo "   $missing"
    if ! find_root; then
        echo "They can only be installed by root, and sudo cannot be used here. Ask for:"
        echo "    apt-get install$missing"
        exit 1
    fi
    echo "They are installed now ..."
    log=$(mktemp)
    # shellcheck disable=SC2086  # many packages
    if install_packages "$log" $missing; then
        rm -f "$log"
        return 0
    fi
    echo "apt-get failed:"
    tail -n 20 "$log" | sed 's/^/    /'
    rm -f "$log"
    exit 1
}

# want_packages WHAT_FOR PACKAGE...: installed as far as they can be; what needs the others is left out
want_packages() {
    what_for=$1
    shift
    is_debian || return 0
    find_missing "$@"
    [ -n "$missing" ] || return 0
    if ! find_root; then
        echo "Left out of $what_for, for only root can install what it needs:$missing"
        return 0
    fi
    echo "Installing further packages for $what_for:"
    echo "   $missing"
    log=$(mktemp)
    # shellcheck disable=SC2086  # many packages
    install_packages "$log" $missing || for package in $missing; do # all at once, or each that can be
        install_packages "$log" "$package" || :
    done
    rm -f "$log"
    find_missing "$@"
    [ -z "$missing" ] || echo "Left out of $what_for, for these cannot be installed here:$missing"
}

build_targets= # empty: all

# build_tree TEXT FOLDER CMAKE_WORDS...: configured and built, $build_targets; only failures are shown
build_tree() {
    text=$1 folder=$2
    shift 2
    echo "Building $text into $folder/ ..."
    mkdir -p "$folder"
    # shellcheck disable=SC2086  # many targets
    if ! { cmake "$@" -B "$folder" &&
        cmake --build "$folder" --parallel "$(nproc)" ${build_targets:+--target $build_targets}; } \
        >"$folder/build.log" 2>&1; then
        echo "The build failed; all of its output is in $folder/build.log:"
        grep -nE 'error|Error|undefined reference' "$folder/build.log" | head -n 20
        tail -n 20 "$folder/build.log"
        exit 1
    fi
    grep -E 'warning:|left out' "$folder/build.log" | sort -u | head -n 20 || :
}
