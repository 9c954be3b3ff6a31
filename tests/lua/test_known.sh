#!/bin/sh
# test_known.sh [BUILD]: counts that a debug hook cannot see or changes by being there. The
# expected figures follow from the programs in known/.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/known"

expect() { # PROGRAM NAME CALLS
    found=$(calls "$tmp/$1.qprof" "$2")
    [ "$found" = "$3" ] || complain "$1: $2 was called $found times, not $3"
}

line_count() { # PROGRAM FILE LINE
    "$bin/qprof" annotate --format=json "$tmp/$1.qprof" |
        jq --arg file "$2" --argjson line "$3" \
        '.files[] | select(.path == $file) | .lines[] | select(.line == $line) | .count'
}

for program in finalizers overflow yield_in_close loading abandoned states unreachable; do
    for options in "" "-time=adaptive" "-time=none -collection-granularity=function"; do
        record "$options" "$program" "$program.lua"
        [ "$code" -eq 0 ] || complain "$program $options: exit $code"
        "$bin/qprof" check "$tmp/$program.qprof" >"$tmp/check" || {
            cat "$tmp/check"
            complain "$program $options: check"
        }
    done
    record "" "$program" "$program.lua"
    "$bin/lua-base" "$program.lua" 2>&1 | sed 's|lua-base|qlua|' | diff - "$tmp/$program.out" ||
        complain "$program: its output changes"
done

expect finalizers finalize 13
expect finalizers setmetatable 13
expect overflow descend "$(cat "$tmp/overflow.out")"
expect overflow after 7
expect yield_in_close close 2
expect yield_in_close body 1
[ "$(line_count yield_in_close yield_in_close.lua 8)" = 1 ] ||
    complain "yield_in_close: the return counts more than once"
expect loading "main chunk of again" 20000
expect loading load 20000
expect loading round 100001
expect abandoned wait 1500
expect abandoned coroutine.yield 1500
[ "$(line_count abandoned waiting 2)" = 1500 ] || complain "abandoned: line 2 of the chunk"
[ "$(line_count abandoned waiting 3)" = 0 ] || complain "abandoned: line 3 never ran"
[ "$(line_count abandoned abandoned.lua 12)" = 0 ] || complain "abandoned: line 12 never ran"

record -collect=coverage unreachable unreachable.lua
missed=$("$bin/qprof" cover report --format=json "$tmp/unreachable.qprof" |
    jq -r '[.files[].lines[] | select(.hit | not) | .line] | join(" ")')
wanted=$(grep -n -- '-- MISSED$' unreachable.lua | cut -d : -f 1 | paste -sd ' ')
[ "$missed" = "$wanted" ] || complain "unreachable: missed are $missed, not $wanted"

# Without QPROF nothing is recorded and no file is left.
mkdir "$tmp/empty"
(cd "$tmp/empty" && "$bin/qlua" -e 'print(1)' >/dev/null && [ -z "$(ls)" ]) ||
    complain "a program that does not record leaves files"
[ "$("$bin/qlua" -v)" = "$("$bin/lua-base" -v)" ] || complain "lua -v differs"

# A bad option: the program runs all the same.
QPROF="-time=sometimes" "$bin/qlua" -e 'print("ran")' >"$tmp/out" 2>"$tmp/err"
[ "$(cat "$tmp/out")" = ran ] || complain "a bad option stops the program"
printf '%s\n' 'qprof: -time=sometimes: not one of exact|adaptive|sampled|none: nothing is recorded' |
    cmp - "$tmp/err" || complain "a bad option is not reported once"
# Memory for a part of the calls alone: the head of the report has all of them.
echo 'local function deep(n) if n > 0 then return 1 + deep(n - 1) end return 0 end deep(150000)' >"$tmp/deep.lua"
record "-time=none" whole "$tmp/deep.lua"
record "-time=none -memory-limit=1M" limited "$tmp/deep.lua"
for name in whole limited; do
    "$bin/qprof" report --format=json "$tmp/$name.qprof" >"$tmp/$name.json"
    jq '.run.calls + .run.calls_lost' "$tmp/$name.json" >"$tmp/$name.total"
done
cmp "$tmp/whole.total" "$tmp/limited.total" || complain "lost calls are not in the total"
jq -e '.run.calls_lost == 0' "$tmp/whole.json" >"$tmp/jq" || complain "calls are lost without need"
jq -e '.run.calls_lost > 100000' "$tmp/limited.json" >"$tmp/jq" || complain "no calls are lost"
"$bin/qprof" report "$tmp/limited.qprof" | grep -q '^  totals      [0-9,]* calls, [0-9,]* of them lost, of ' ||
    complain "the head does not say that calls were lost"

# What a call costs that a trigger skips is in the time of its caller, and can be taken off it.
cat >"$tmp/skips.lua" <<'END'
local function quiet(i) return i + 1 end
local function work() local x = 0 for i = 1, 300000 do x = quiet(x) end return x end
for i = 1, 2 do work() end
END
echo 'trigger q off : quiet' >"$tmp/skips.conf"
record "-time=exact -config=$tmp/skips.conf" skips "$tmp/skips.lua"
for flag in "" --subtract-overhead; do
    "$bin/qprof" report --format=json $flag "$tmp/skips.qprof" | jq '.methods[] | select(.name == "work") | .self'
done >"$tmp/skips"
[ "$(awk 'NR == 1 { all = $1 } END { print $1 < 0.8 * all }' "$tmp/skips")" = 1 ] || {
    cat "$tmp/skips"
    complain "the cost of skipped calls is not taken off their caller"
}
finish
