#!/bin/sh
# test_minivm.sh: examples/minivm with its hooks, at most 60 added lines, has the figures that follow from its
# programs, worked out by hand.
#
# fib.mini: a call with n < 2 ends at once, another one makes two calls: 177 calls, 89 of them end on line 5. The end of
#   an if has no code, that of a function has code that is not reached.
# errors.mini: main catches 4 errors of fail(7); each work() calls deep(2), deep(1), deep(0). count(99) calls
#   itself 99 times as a tail call, so main is its only caller. Each error ends five frames at once: fail, three deep
#   and work; four of the five are counted as unwound.
# generators.mini: 3 coroutines yield 4 numbers and return one: 15 calls of resume, 18 of is_done. 3 coroutines and
#   247 pairs are 250 objects: the collector runs at numbers 101 and 202, in collect(), and at the end.
set -eu
same() {
    [ "$2" = "$3" ] || { echo "test_minivm.sh: $1: $3, not $2"; exit 1; }
}
here=$QPROF_SOURCE/examples/minivm
n_added=$(grep -c '^+[^+]' "$here/minivm.patch")
[ "$n_added" -le 60 ] || { echo "test_minivm.sh: the patch adds $n_added lines"; exit 1; }
cp "$here/minivm.c" plain.c
cp "$here/minivm.c" minivm.c
patch -s -p1 <"$here/minivm.patch"
flags="-std=c11 -Wall -Wextra -Werror"
# shellcheck disable=SC2086
${CC:-cc} $flags plain.c -o plain
# shellcheck disable=SC2086
${CC:-cc} $flags -I"$QPROF_SOURCE/include" minivm.c "$QPROF_LIB/libqprof.a" -pthread -o minivm

# run PROGRAM RESULT DIAGNOSTICS: records PROGRAM.qprof
run() {
    same "$1" "$2" "$(./plain "$here/$1.mini")"
    same "$1 that records nothing" "$2" "$(./minivm "$here/$1.mini")"
    rm -f "$1.qprof"
    same "$1 that is recorded" "$2" "$(QPROF="-output=$1.qprof -collect=profile,coverage,trace" ./minivm "$here/$1.mini")"
    "$QPROF_BIN/qprof" check "$1.qprof" >checked || { cat checked; exit 1; }
    "$QPROF_BIN/qprof" report --format=json "$1.qprof" >report.json
    same "diagnostics of $1" "$3" "$(jq -c .diagnostics report.json)"
}
# calls NAME COUNT: of the last run
calls() {
    same "calls of $1" "$2" "$(jq -r --arg name "$1" '.methods[] | select(.name == $name) | .calls' report.json)"
    same "calls of $1 in the trace" "$2" "$("$QPROF_BIN/qprof" trace stat --format=json "$program.qprof" |
        jq -r --arg name "$1" '.calls[] | select(.name == $name) | .calls')"
}

program=fib
run fib 55 '{}'
calls fib 177
calls main 1
"$QPROF_BIN/qprof" annotate --format=json fib.qprof >lines.json
same "lines of fib" "4:177 5:89 7:88 8:0 11:1 12:0" "$(jq -r '
    [.files[].lines[] | select(.count != null) | "\(.line):\(.count)"] | join(" ")' lines.json)"

program=errors
run errors 4 '{"unwound":16}'
calls deep 12
calls work 4
calls fail 4
calls count 100
"$QPROF_BIN/qprof" tree --format=json errors.qprof >tree.json
same "callers of count" "main" "$(jq -r '(.methods | map({(.id | tostring): .name}) | add) as $name |
    (.nodes | map({(.id | tostring): .method}) | add) as $method |
    [.nodes[] | select($name[.method | tostring] == "count") | $name[$method[.parent | tostring] | tostring]] |
    join(" ")' tree.json)"

program=generators
run generators 636 '{}'
calls numbers 3
calls resume 15
calls is_done 18
calls pair 247
calls applied 1
calls "<Garbage collector>" 4
