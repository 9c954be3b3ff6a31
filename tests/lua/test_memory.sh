#!/bin/sh
# test_memory.sh [BUILD]: the bytes and objects of a profile equal those of an allocator that counts, and
# what remains of a function equals Lua's own account.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/memory"
export LUA_CPATH="$oracle/?.so"

# Bytes and objects of all threads but the first, which is the state that runs count.lua.
recorded() {
    "$bin/qprof" export --to=json -o - "$1" | jq -r '
        [.nodes[] | select(.method == 0 and .thread > 1)] |
        "counted \(map(.bytes_total) | add) \(map(.objects_total) | add)"'
}

for options in -time=exact -time=adaptive '-time=none -collection-granularity=function' \
    -collect=profile,trace '-collect=profile -cover=hits' -thread-rows=2; do
    record "-allocations=yes $options" run count.lua work.lua
    [ "$code" -eq 0 ] || { cat "$tmp/run.out"; complain "$options: exit $code"; }
    found=$(recorded "$tmp/run.qprof")
    [ "$found" = "$(cat "$tmp/run.out")" ] ||
        complain "$options: $found, and the allocator $(cat "$tmp/run.out")"
    "$bin/qprof" check "$tmp/run.qprof" >"$tmp/check" || { cat "$tmp/check"; complain "$options: check"; }
done

record "-allocations=yes" net net.lua
found=$("$bin/qprof" report --format=json "$tmp/net.qprof" |
    jq -r '.methods[] | select(.name == "f") | "counted \(.bytes_total - .freed_bytes_total)"')
[ "$found" = "$(cat "$tmp/net.out")" ] || complain "f: $found, and Lua $(cat "$tmp/net.out")"

# Lines, by hand: a table has 56 bytes, in Lua 5.5 48; an array begins as a block of its own and grows; a closure with one upvalue
# has 40 bytes, and so has the upvalue, which all of them share.
record "-allocations=yes" lines lines.lua
table=56
[ "$lua" = 5.4 ] || table=48
rm -f "$tmp/twice.qprof"
"$bin/qprof" merge -o "$tmp/twice.qprof" "$tmp/lines.qprof" "$tmp/lines.qprof" >/dev/null
for times in 1 2; do
    profile=$tmp/lines.qprof
    [ $times -eq 1 ] || profile=$tmp/twice.qprof
    found=$("$bin/qprof" annotate --format=json "$profile" | jq -r '[.files[0].lines[] |
        select(.line == (2, 3, 12)) | "\(.bytes)/\(.objects)"] | join(" ")')
    [ "$found" = "$((table * times))/$times 0/0 $((20040 * times))/$((501 * times))" ] || complain "lines: $found"
    for function in fill closures; do
        whole=$("$bin/qprof" report --format=json "$profile" |
            jq -r --arg f $function '.methods[] | select(.name == $f) | "\(.bytes) \(.objects)"')
        found=$("$bin/qprof" annotate --format=json $function "$profile" |
            jq -r '[.files[].lines[]] | "\(map(.bytes) | add) \(map(.objects) | add)"')
        [ "$found" = "$whole" ] || complain "lines of $function: $found, and the function $whole"
    done
done

record "" plain net.lua
"$bin/qprof" report --format=json "$tmp/plain.qprof" |
    jq -e '[.. | objects | has("bytes")] | any | not' >/dev/null || complain "bytes, unasked"
finish
