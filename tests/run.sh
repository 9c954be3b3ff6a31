#!/bin/sh
# run.sh [NAME...]: all tests, or those whose names hold one of the words.
#
# What they need is installed (and named before). Four builds: the one that is installed, and three
# with sanitizers or random input, under build/. The last line says how it went.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh

need_packages "the test run" build-essential cmake dpkg-dev patch libreadline-dev pkg-config git \
    libcmocka-dev clang libclang-rt-dev jq zlib1g-dev libsqlite3-dev libzstd-dev libmicrohttpd-dev
want_packages "the test run" valgrind curl clang-format clang-tidy lua-check lua-penlight lcov gcovr \
    lua-busted lua-socket lua-unit libxml2-utils nodejs npm chromium chromium-headless-shell fonts-dejavu-core golang-go \
    libdevel-nytprof-perl kcachegrind xvfb xauth dbus-daemon graphviz sqlite3 \
    protobuf-compiler libcurl4-openssl-dev zstd strace gdb systemtap-sdt-dev python3 \
    lua5.1 lua5.2 lua5.3 lua5.4 luajit liblua5.1-0-dev liblua5.2-dev liblua5.3-dev liblua5.4-dev libluajit-5.1-dev luarocks \
    python3-dev python3-setuptools python3-pygments python3-docutils python3-coverage python3-pytest \
    php-cli php-dev php-xdebug php-pcov php-parser \
    ruby ruby-dev kramdown \
    shapelib pgdbf libdbd-xbase-perl zsh fish mandoc abigail-tools

filter=
for name; do
    filter="${filter:+$filter|}$name"
done
failed=

# suite TEXT FOLDER PRESET [ROOM...]: the tests of some rooms, and only their programs; without a room all
suite() {
    text=$1 folder=$2 preset=$3
    shift 3
    labels= build_targets=
    for room; do
        labels="${labels:+$labels|}$room"
        build_targets="$build_targets ${room}_tests"
    done
    build_tree "$text" "$folder" --preset "$preset" -DQPROF_WERROR=ON
    # Two more than processors: many tests wait for a browser's frame or a thread's turn.
    ctest --test-dir "$folder" --output-on-failure --no-tests=ignore --parallel $(($(nproc) + 2)) \
        ${labels:+-L "$labels"} ${filter:+-R "$filter"} </dev/null || failed="$failed $folder"
}

unset QPROF
suite "what is installed, for all tests" build release
suite "with address and undefined-behaviour sanitizers" build/asan asan \
    unit model threads reliability cprof export
suite "with the thread sanitizer" build/tsan tsan unit threads cprof
suite "for random input" build/fuzz fuzz fuzz

if [ -n "$failed" ]; then
    echo "FAILED in:$failed"
    exit 1
fi
echo "All tests passed${filter:+ that match $filter}."
