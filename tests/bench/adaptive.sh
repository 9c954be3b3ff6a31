#!/bin/sh
# adaptive.sh BUILD [ROUNDS [PROGRAM...]]: -time=adaptive against exact times and against counts.
#
# Each PROGRAM is a Lua script, its arguments included: 'fib.lua 32'. Without any, those of this folder
# and of the packages lua-check, lua-ldoc, lua-dkjson, lua-inspect, lua-basexx and lua-penlight that are
# installed. In each of
# ROUNDS (5) every program runs with counts, adaptive and exact times, in turn. Of all rounds:
# price     CPU time of adaptive above counts, in percent of what exact is above counts
# first     rounds in which the function with the most self time is first of the exact run as well
# self ...  functions of 2 % and more whose interval holds the exact time, if exact times are scaled
#           to the same total, and the least and the largest of all exact runs count as its chance
# Not part of the tests: best on an idle machine.
set -eu
build=$(cd "${1:?usage: adaptive.sh BUILD [ROUNDS [PROGRAM...]]}" && pwd)
rounds=${2:-5}
[ $# -lt 2 ] || shift
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset QPROF
lua=/usr/share/lua
LUA_PATH="${LUA_PATH:-}$lua/5.4/?.lua;$lua/5.4/?/init.lua;$lua/5.1/?.lua;$lua/5.1/?/init.lua;$lua/5.2/?.lua"
export LUA_PATH
cat >"$work/json.lua" <<'END'
local json = require "dkjson"
local seed, n = 17, 0
local function value(depth)
    seed = (seed * 1103515245 + 12345) % 2147483648
    local kind, t = seed % 7, {}
    if depth == 0 or kind < 2 then return seed / 3 end
    if kind == 2 then return "text " .. seed end
    if kind == 3 then return seed % 2 == 0 end
    for i = 1, seed % 9 + 2 do t[kind == 4 and "k" .. i or i] = value(depth - 1) end
    return t
end
for i = 1, 60 do
    n = n + #json.encode((json.decode(json.encode(value(7), {indent = i % 2 == 0}))))
end
print(n)
END
cat >"$work/inspect.lua" <<'END'
local inspect, n = require "inspect", 0
local function value(depth)
    local t = {}
    for i = 1, depth do t["key" .. i], t[i] = value(depth - 1), {i, tostring(i)} end
    return t
end
for i = 1, 20 do n = n + #inspect(value(6)) end
print(n)
END
cat >"$work/base.lua" <<'END'
local basexx, n = require "basexx", 0
for i = 1, 60 do
    local text = string.rep("any text " .. i, 60)
    n = n + #basexx.from_base64(basexx.to_base64(text)) + #basexx.from_base32(basexx.to_base32(text))
end
print(n)
END
cat >"$work/pretty.lua" <<'END'
local pretty, List, n = require "pl.pretty", require "pl.List", 0
for i = 1, 800 do
    local t = {}
    for k = 1, 20 do t[k] = {name = "item" .. k, list = {k, k + 1, {i}}} end
    n = n + #pretty.read(pretty.write(t)) + List(t):map(function(x) return x.name end):len()
end
print(n)
END
if [ $# = 0 ]; then
    set -- "$here/fib.lua 27" "$here/mixed.lua"
    [ ! -f $lua/5.4/dkjson.lua ] || set -- "$@" "$work/json.lua"
    [ ! -f $lua/5.1/inspect.lua ] || set -- "$@" "$work/inspect.lua"
    [ ! -f $lua/5.1/basexx.lua ] || set -- "$@" "$work/base.lua"
    [ ! -d $lua/5.4/pl ] || set -- "$@" "$work/pretty.lua"
    [ ! -f /usr/bin/luacheck ] || set -- "$@" "/usr/bin/luacheck --no-color $lua/5.4/pl"
    [ ! -f /usr/bin/ldoc ] || set -- "$@" "/usr/bin/ldoc -d $work/doc $lua/5.4/pl"
fi

# CPU time in ms of a run with QPROF=$1
run() {
    rm -f "$work/$2"
    # shellcheck disable=SC2086 # a program and its arguments
    QPROF="-time=$1 -output=$work/$2" bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' run \
        "$build/bin/qlua" $program 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}
# median FILE
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

printf '%-40s %8s %8s %8s %7s %7s %12s\n' program counts adaptive exact price first 'self holds'
for program in "$@"; do
    rm -f "$work"/*.ms "$work"/*.self
    i=0
    while [ $((i += 1)) -le "$rounds" ]; do
        run none none.qprof >>"$work/none.ms"
        run adaptive "a$i.qprof" >>"$work/adaptive.ms"
        run exact "e$i.qprof" >>"$work/exact.ms"
        for kind in a e; do
            "$build/bin/qprof" report --format=json "$work/$kind$i.qprof" | jq -r ".run.total as \$all |
                .methods[] | [\"$kind\", $i, \$all, .self, .self_half, .name, .file, .first_line] | @tsv" >>"$work/all.self"
        done
    done
    # shellcheck disable=SC2046 # two figures
    awk -F'\t' -v rounds="$rounds" -v program="$(basename "${program%% *}")" -v none="$(median "$work/none.ms")" \
        -v adaptive="$(median "$work/adaptive.ms")" -v exact="$(median "$work/exact.ms")" '
        { name = $6 "\t" $7 "\t" $8 }
        $1 == "e" {
            share = $4 / $3
            if (!(name in least) || share < least[name]) least[name] = share
            if (share > most[name]) most[name] = share
            sum[name] += share
        }
        $1 == "e" && share >= best[$2] { best[$2] = share; first_of[$2] = name }
        $1 == "a" { n++; at[n] = name; share_of[n] = $4 / $3; half[n] = $5 / $3; round[n] = $2
            if (share_of[n] >= highest[$2]) { highest[$2] = share_of[n]; found[$2] = name } }
        END {
            for (i = 1; i <= rounds; i++) is_first[first_of[i]] = 1
            for (i = 1; i <= rounds; i++) n_first += found[i] in is_first
            for (i = 1; i <= n; i++) if (sum[at[i]] / rounds >= 0.02) {
                n_rows++
                n_held += share_of[i] + half[i] >= least[at[i]] && share_of[i] - half[i] <= most[at[i]]
            }
            printf "%-40s %8.0f %8.0f %8.0f %6.0f%% %3d/%-3d %5d/%-6d\n", program, none, adaptive, exact,
                (exact > none ? 100 * (adaptive - none) / (exact - none) : 0), n_first, rounds, n_held, n_rows
        }' "$work/all.self"
done
