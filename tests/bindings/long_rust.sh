#!/bin/sh
# long_rust.sh: the crate of bindings/rust: its promises, its example, and the packed crate in an empty folder.
set -eu
. "$QPROF_SOURCE/tests/packages.sh"
command -v cargo >/dev/null || need_packages "the crate" cargo rustc
work=$PWD qprof=$QPROF_BIN/qprof tests=$QPROF_SOURCE/tests/bindings
export CARGO_TARGET_DIR="$work/target"
unset QPROF
. "$tests/lib.sh"

# calls FILE NAME MEMBER
calls() {
    "$qprof" report --format=json --limit=0 "$1" | jq --arg name "$2" "[.methods[] | select(.name == \$name) | .$3] | add"
}
is() {
    [ "$2" = "$3" ] || { echo "$1: $2, and not $3"; exit 1; }
}

# claims FOLDER HOW
claims() {
    (cd "$1" && cargo test --offline --quiet --test claims >"$work/test.log" 2>&1) || { cat "$work/test.log"; exit 1; }
    first=$1/first.qprof
    is "calls of outer" "$(calls "$first" outer calls)" 6
    is "calls of inner, one of them in a pause" "$(calls "$first" inner calls)" 18
    is "calls that a panic ended" "$(calls "$first" panics calls)" 30
    is "a tail call" "$(calls "$first" tail calls)" 1
    is "calls of a generator" "$(calls "$first" piece calls)" 1
    is "its resumes" "$(calls "$first" piece resumes)" 5
    is "calls on another stack" "$(calls "$first" fiber calls)" 2
    is "calls of four threads" "$(calls "$first" shared calls)" 4000
    is "calls in the second run" "$(calls "$1/second.qprof" inner calls)" 1
    # of 50 even ones 10 panic and 10 call fail(); of 50 odd ones as many
    requests=$1/requests.qprof
    is "requests" "$("$qprof" requests --format=json "$requests" |
        jq -c '[.endpoints[] | [.endpoint, .requests, .failed, .cut, .slowest_trace]] | sort')" \
        '[["GET /even",50,20,0,"0af7651916cd43dd8448eb211c80319c"],["GET /odd",50,20,0,"0af7651916cd43dd8448eb211c80319c"]]'
    is "calls below endpoints" "$("$qprof" report --endpoint="GET /*" --format=json "$requests" |
        jq -c '[.methods[] | {(.name): .hits}] | add | [.outer, .inner, .panics]')" '[100,80,60]'
    "$qprof" check --host "$requests" >/dev/null
    for file in "$first" "$requests" "$1/second.qprof"; do "$qprof" check "$file" >/dev/null; done
    echo "$2: the promises hold"
}

mkdir tree
cp -r "$QPROF_SOURCE/bindings" "$QPROF_SOURCE/include" "$QPROF_SOURCE/tools" "$QPROF_SOURCE/src" tree
crate=$work/tree/bindings/rust
export QPROF_LIBRARY="$QPROF_LIB/libqprof.a" QPROF_INCLUDE="$QPROF_SOURCE/include"
claims "$crate" "with a library that is built"
(cd tree && follow_guide rust.md)
# fib(15) makes 2 F(16) - 1 calls; count replaces itself 50 times; half(3) fails
is "what the example records" "$("$qprof" report --format=json "$crate/tiny.qprof" |
    jq -c '[.methods[] | {(.name): .calls}] | add | [.fib, .count, .half, .main]')" "[1973,51,2,1]"
is "its lines" "$("$qprof" annotate --format=json "$crate/tiny.qprof" | jq -c '[.files[].lines[] | [.line, .count]]')" \
    "[[2,1973],[4,51],[6,2],[8,1],[9,1],[10,1],[11,1]]"
echo "the guide and its example: ok"

# packed with the recorder's sources, and built where nothing else is
mkdir -p "$crate/recorder/qprof"
python3 "$QPROF_SOURCE/tools/amalgamate.py" "$crate/recorder"
echo '#include "../qprof.h"' >"$crate/recorder/qprof/embed.h"
(cd "$crate" && cargo package --offline --allow-dirty --no-verify --quiet)
mkdir empty
tar -C empty -xzf target/package/qprof-*.crate
unset QPROF_LIBRARY QPROF_INCLUDE
PKG_CONFIG_LIBDIR=$work claims "$(echo "$work"/empty/qprof-*)" "the packed crate, with its own recorder"
