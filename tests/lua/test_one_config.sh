#!/bin/sh
# test_one_config.sh [BUILD]: one configuration file drives a profile, coverage and a trace, and all
# at once: each contains exactly what the others contain.
#
# config/shop.conf by hand. Threads begin off. `serve` turns its thread on at every third call: the
# 3rd, 6th and 9th of the main program and the 3rd of the coroutine, which counts by itself: 4 calls.
# Each has price(n), price(2) by log, which is outside and has no row, price(n) by round, price(1);
# audit and what it calls are off: 4 calls of price, 16 in all, with 3 * (2+2+2+1) + (3+2+3+1) = 30
# rounds of its loop. `open` turns all threads on after line 42, event 40001 stops the recording in
# line 44, 40002 starts it in line 46, `close` turns all off after line 51: lines 43, 47 and twice 49
# call price(1): 4 calls, 4 rounds. `round` has calls and no lines, and coverage takes its line 18 as
# executed once a call.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/calls.expected" <<'END'
close 1
open 1
price 20
round 4
serve 4
END
cat >"$tmp/lines.expected" <<'END'
3 20
4 34
5 34
7 20
21 4
22 4
23 4
24 4
25 4
27 1
28 1
43 1
44 1
47 1
48 2
49 2
51 1
END

sed 's/^7 20$/&\n18 4/' "$tmp/lines.expected" >"$tmp/covered.expected"

# same EXPECTED WHAT: standard input has these lines
same() {
    diff "$1" - >"$tmp/differences" || {
        cat "$tmp/differences"
        complain "$collect: $2 (< by hand, > recorded)"
    }
}

cd "$source/tests/lua/config"
"$bin/qprof" config check shop.conf >"$tmp/checked" || complain "shop.conf is refused: $(cat "$tmp/checked")"
for collect in profile coverage trace profile,coverage,trace; do
    record "-config=shop.conf -collect=$collect" run shop.lua
    [ "$code" -eq 0 ] || complain "$collect: $(cat "$tmp/run.out")"
    file=$tmp/run.qprof
    "$bin/qprof" check "$file" >"$tmp/checked" || complain "$collect: $(cat "$tmp/checked")"
    "$bin/qprof" report --format=json "$file" |
        jq -r '.methods[] | select(.hits > 0) | "\(.name) \(.hits)"' | LC_ALL=C sort |
        same "$tmp/calls.expected" "calls of the profile"
    "$bin/qprof" cover report --format=json "$file" 2>"$tmp/remarks" >"$tmp/cover.json"
    jq -r '.files[].functions[] | select(.hits > 0) | "\(.name) \(.hits)"' "$tmp/cover.json" |
        LC_ALL=C sort | same "$tmp/calls.expected" "hits of the coverage"
    jq -r '.files[].lines[] | select(.hits > 0) | "\(.line) \(.hits)"' "$tmp/cover.json" |
        same "$tmp/covered.expected" "lines of the coverage"
    "$bin/qprof" annotate --format=json "$file" | jq -r --slurpfile cover "$tmp/cover.json" '
        ([$cover[].files[].lines[].line] - [18]) as $code | .files[] | select(.path == "shop.lua") | .lines[] |
        select(.count > 0 and (.line | IN($code[]))) | "\(.line) \(.count)"' |
        same "$tmp/lines.expected" "lines of the profile"
    case $collect in
    *trace*)
        "$bin/qprof" trace stat --format=json "$file" |
            jq -r '.calls[] | select(.calls > 0) | "\(.name) \(.calls)"' | LC_ALL=C sort |
            same "$tmp/calls.expected" "calls of the trace"
        ;;
    esac
done

# config/clear.lua by hand: `wipe` clears when it ends, in line 8 of the second round. After it `work`
# is called in line 9 of that round, in lines 7 and 9 of the third, and in lines 11 and 14; two rounds
# end in line 6.
for collect in profile coverage trace; do
    record "-config=clear.conf -collect=$collect" run clear.lua
    "$bin/qprof" report --format=json "$tmp/run.qprof" |
        jq -r '.methods[] | select(.file == "clear.lua" and .hits > 0) | "\(.name) \(.hits)"' >"$tmp/cleared"
    echo work 5 | diff - "$tmp/cleared" || complain "$collect: calls after a clear"
    "$bin/qprof" cover report --format=json "$tmp/run.qprof" 2>"$tmp/remarks" |
        jq -r '[.files[].lines[] | select(.hits > 0 and (.line | IN(2, 6, 7, 8, 9, 11, 14))) |
            "\(.line):\(.hits)"] | join(" ")' >"$tmp/cleared"
    echo 2:5 6:2 7:1 8:1 9:2 11:1 14:1 | diff - "$tmp/cleared" || complain "$collect: lines after a clear"
done
finish
