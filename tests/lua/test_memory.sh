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

record "" plain net.lua
"$bin/qprof" report --format=json "$tmp/plain.qprof" |
    jq -e '[.. | objects | has("bytes")] | any | not' >/dev/null || complain "bytes, unasked"
finish
