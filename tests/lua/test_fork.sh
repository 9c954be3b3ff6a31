#!/bin/sh
# test_fork.sh [BUILD]: with -follow-child-processes the workers of a Lua program have profiles of their
# own, and a merge counts every call once.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/fork"
export LUA_CPATH="$oracle/?.so"

# expect TEXT FILE NAME CALLS
expect() {
    found=$(calls "$2" "$3")
    [ "$found" = "$4" ] || complain "$1: $3 has $found calls, not $4"
}

# follow WAY OPTIONS
follow() {
    text="$2, $1"
    rm -f "$tmp"/run.*
    record "$2 -follow-child-processes=yes" run workers.lua "$1"
    [ "$code" -eq 0 ] || { cat "$tmp/run.out"; complain "$text: exit $code"; }
    # The parent: 2 requests before, 3 between, 10 after.
    expect "$text, parent" "$tmp/run.qprof" handle 15
    k=0
    while read -r pid status; do
        k=$((k * 10 + (k == 0) * 10))
        [ "$status" -eq 0 ] || complain "$text: worker ends with $status"
        "$bin/qprof" check "$tmp/run.qprof.$pid" >"$tmp/check" ||
            { cat "$tmp/check"; complain "$text: check of a worker"; }
        expect "$text, worker" "$tmp/run.qprof.$pid" handle $k
    done <"$tmp/run.out"
    [ "$k" -eq 1000 ] || complain "$text: no three workers"
    "$bin/qprof" merge -o "$tmp/run.all" "$tmp/run.qprof" "$tmp"/run.qprof.* >"$tmp/merge" 2>&1 ||
        { cat "$tmp/merge"; complain "$text: merge"; }
    expect "$text, merged" "$tmp/run.all" handle 1125
    expect "$text, merged" "$tmp/run.all" parse 1125
    expect "$text, merged" "$tmp/run.all" serve 1
    "$bin/qprof" info --format=json "$tmp/run.all" | jq -e '.diagnostics | keys -
        ["destroyed_live", "still_live", "unwound", "overrun", "throttled"] == []' >"$tmp/diagnostics" ||
        complain "$text: diagnostics"
}

follow exit -time=exact
follow return -time=exact
follow return -time=adaptive
follow exit -time=sampled
follow return '-time=none -allocations=yes'
follow exit -collect=profile,trace
follow return '-collect=profile -cover=hits'
follow exit -collect=coverage

# Ends without an exit leave the live file, which can be read.
rm -f "$tmp"/run.*
XDG_RUNTIME_DIR=$tmp record "-time=exact -follow-child-processes=yes" run workers.lua leave
k=0
while read -r pid status; do
    k=$((k * 10 + (k == 0) * 10))
    live=$(ls "$tmp"/qprof-*/"$pid".*)
    expect "left" "$live" handle $k
done <"$tmp/run.out"
[ "$k" -eq 1000 ] || complain "no three workers have left"

# Without the option a child records nothing.
rm -f "$tmp"/run.*
record "-time=exact" run workers.lua exit
expect "not followed" "$tmp/run.qprof" handle 15
[ "$(ls "$tmp"/run.qprof* | wc -l)" -eq 1 ] || complain "a child that is not followed has a file"
finish
