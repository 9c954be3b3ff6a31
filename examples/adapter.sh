# adapter.sh: what the build.sh of an adapter begins with. Sourced by it, in its own folder.
# shellcheck shell=sh

qprof=$(cd ../.. && pwd)
. "$qprof/tests/packages.sh"
unset QPROF

say() {
    printf '%s\n' "$*"
}

# run LOG COMMAND...: its output is in LOG; the end of it is shown if the command fails
run() {
    log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        grep -nE 'error|undefined reference' "$log" | head -n 20
        tail -n 20 "$log"
        say "failed: $*; all of the output is in $log"
        exit 1
    fi
}

# build_library: the recorder and the tool, in build/ of this checkout
build_library() {
    say "Building libqprof and qprof into $qprof/build/ ..."
    mkdir -p "$qprof/build"
    (cd "$qprof" && run build/adapter.log cmake --preset release &&
        run build/adapter.log cmake --build build --target qprof_static --target qprof_tool --parallel "$(nproc)")
}

# fetch PACKAGE TREE: Debian's source of the package, in a new tree
fetch() {
    say "Fetching the source of $1 ..."
    sh "$qprof/examples/fetch-source.sh" "$1" "$work/$1"
    rm -rf --one-file-system "$2"
    cp -r "$work/$1" "$2"
}
