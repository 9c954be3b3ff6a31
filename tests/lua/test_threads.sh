#!/bin/sh
# test_threads.sh [BUILD]: 1,000 coroutines in each of several states on as many system threads
# execute the same lines: no count is lost.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/threads"
export LUA_CPATH="$oracle/?.so"

lines() { # of shared.lua, with what they say for one state; by hand from the program
    cat <<'END'
3 10000
4 70000
5 70000
6 30000
8 40000
11 10000
13 1
17 10000
18 10000
24 10000
END
}

for n in 1 2 8; do
    for collected in coverage profile,coverage; do
        record "-collect=$collected" run main.lua $n
        [ "$code" -eq 0 ] || { cat "$tmp/run.out"; complain "$n states: exit $code"; }
        "$bin/qprof" cover report --format=json "$tmp/run.qprof" >"$tmp/run.json"
        lines | while read -r line hits; do
            found=$(jq --argjson line "$line" '.files[] | select(.path == "shared.lua") |
                .lines[] | select(.line == $line) | .hits' "$tmp/run.json")
            [ "$found" = $((n * hits)) ] || echo "line $line: $found, not $((n * hits))"
        done >"$tmp/wrong"
        [ ! -s "$tmp/wrong" ] || { cat "$tmp/wrong"; complain "$n states, $collected"; }
    done
done
# Counts of lines belong to system threads and calls to coroutines.
"$bin/qprof" annotate --thread=1 shared.lua "$tmp/run.qprof" >"$tmp/one"
grep -q '^No figures of lines: they are not counted by virtual thread' "$tmp/one" || {
    cat "$tmp/one"
    complain "lines of one virtual thread"
}
finish
