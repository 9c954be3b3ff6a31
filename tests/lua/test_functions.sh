#!/bin/sh
# test_functions.sh [BUILD]: coverage of functions alone counts the calls that a hook counts on unpatched
# Lua, for every program in programs/; stops, contexts and coroutines are worked out by hand. No
# entry is reported.
. "$(dirname "$0")/lib.sh"
collected='-collect=coverage -collection-granularity=function'

# Chunks from strings and functions have other names in qlua: where they came from.
without_names() {
    sed 's/^\[string .*\]/[string]/; s/^(load)/[string]/' | LC_ALL=C sort
}

# Stripped code has no lines and is not covered.
said_by_oracle() {
    awk -F '\t' -v OFS='\t' '$1 == "lua" && $2 ~ /:[0-9]+$/ && $3 > 0 { n[$2] += $3 }
        END { for (key in n) print key, n[key] }' "$tmp/oracle.tsv" | grep -v '^?' | without_names
}

said_by_qprof() {
    "$bin/qprof" report --format=json "$1" | jq -r '.methods[] | select(.calls > 0) |
        if (.name | startswith("main chunk of ")) then "\(.file):0\t\(.calls)"
        else "\(.file):\(.line)\t\(.calls)" end' |
        awk -F '\t' -v OFS='\t' '{ n[$1] += $2 } END { for (key in n) print key, n[key] }' | without_names
}

compare() {
    rm -f "$tmp/oracle.tsv"
    ORACLE="$tmp/oracle.tsv" LUA_CPATH="$oracle/?.so" "$bin/lua-base" -l oracle "$1" a b >"$tmp/hooked.out" 2>&1 || true
    said_by_oracle >"$tmp/expected"
    record "$collected" run "$1" a b
    said_by_qprof "$tmp/run.qprof" >"$tmp/actual"
    diff "$tmp/expected" "$tmp/actual" || complain "$1: calls differ (< hook, > qlua)"
    "$bin/qprof" check "$tmp/run.qprof" >"$tmp/check" || complain "$1: $(cat "$tmp/check")"
}

cd "$programs"
for program in *.lua; do
    compare "$program"
done

# ---- by hand -------------------------------------------------------------------------------------
cd "$tmp"
cat >stops.lua <<'END'
local q = require "qlua"
local function f(n) for i = 1, n do local x = i if x > 2 then x = 3 end end return n end
local function g() return f(3) end
local function h() q.stop() f(1) f(1) g() q.start() f(5) end
f(1) g() h() f(2)                                                            -- f: 4, g: 1, h: 1
local co = coroutine.wrap(function() f(1) q.stop() coroutine.yield() f(1) q.start() f(1) end)
co() f(7) co()                                                               -- f: 2
q.context("a") f(1) q.context() f(1)                                         -- f: 2, 1 of it in a
END
hits() { # OPTIONS FILE: name and hits of each function
    "$bin/qprof" cover report --format=json $1 "$2" 2>"$tmp/printed" |
        jq -r '[.files[].functions[] | "\(.name) \(.hits)"] | join(", ")'
}
for granularity in function line; do
    record "-collect=coverage -collection-granularity=$granularity" $granularity stops.lua
    all=$(hits "" $granularity.qprof)
    of_a=$(hits --context=a $granularity.qprof)
    [ "$all" = "main chunk of stops.lua 1, f 8, g 1, h 1, argument 1 of coroutine.wrap at stops.lua:6 1" ] || complain "$granularity: $all"
    [ "$of_a" = "main chunk of stops.lua 0, f 1, g 0, h 0, argument 1 of coroutine.wrap at stops.lua:6 0" ] || complain "$granularity, a: $of_a"
    "$bin/qprof" check $granularity.qprof >check || complain "$granularity: $(cat check)"
done
record "$collected" calm "$programs/recursion.lua"
[ "$(calls calm.qprof lua)" = 0 ] || complain "entries are reported"
finish
