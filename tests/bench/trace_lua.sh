#!/bin/sh
# trace_lua.sh [BUILD] [ROUNDS] [BUFFER]: a raw trace of a Lua program in stream mode, by default of
# 102 million events, where a call does next to nothing: what it costs, how large it is, what is lost.
#
# A round is fib(30), 2,692,537 calls. Fails unless the trace and the profile of the same run agree: a
# call of the profile is in the trace, or its entry is among the lost records; the others of these are
# ends, whose calls the trace shows as cut, or say that a thread begins or ends.
set -eu
unset QPROF LUA_PATH LUA_CPATH LUA_INIT
build=$(cd "${1:-build}" && pwd)
bin=$build/bin
rounds=${2:-19}
buffer=${3:-64M}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >fib.lua <<'END'
local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end
for _ = 1, tonumber(arg[1]) do
    assert(fib(30) == 832040)
end
END

seconds() { # COMMAND...: time that passes
    began=$(date +%s.%N)
    "$@" >printed
    echo "$began $(date +%s.%N)" | awk '{ printf "%.2f", $2 - $1 }'
}

base=$(seconds "$bin/lua-base" fib.lua "$rounds")
exact=$(QPROF='-output=exact.qprof -collection-granularity=function' \
    seconds "$bin/qlua" fib.lua "$rounds")
traced=$(QPROF="-output=run.qprof -collection-granularity=function -trace-output=run.qtrace \
    -trace-mode=stream -trace-buffer=$buffer" seconds "$bin/qlua" fib.lua "$rounds")
read_in=$(seconds "$bin/qprof" trace stat --format=json run.qtrace 2>remarks)
mv printed stat.json
"$bin/qprof" report --format=json run.qprof >report.json
"$bin/qprof" info --format=json run.qprof >info.json
bytes=$(stat -c %s run.qtrace)

jq -nr --slurpfile stat stat.json --slurpfile report report.json --slurpfile info info.json \
    --argjson bytes "$bytes" --argjson base "$base" --argjson exact "$exact" \
    --argjson traced "$traced" --argjson read "$read_in" --argjson rounds "$rounds" '
    def part: . * 100 | round / 100;
    $stat[0].trace as $t | ([$report[0].methods[].calls] | add) as $calls |
    ([$stat[0].calls[].incomplete] | add) as $cut |
    ($info[0].diagnostics.trace_lost // 0) as $lost |
    ($t.calls + $lost - $cut - $calls) as $others |
    "events of the program   \(2 * $calls)",
    "in the trace            \($t.records) records, \($t.calls) calls, \($cut) of them cut",
    "lost, and counted       \($lost) records",
    "file                    \($bytes) bytes, \($bytes / $t.records | part) a record",
    "time                    \($traced) s; exact profile \($exact) s; lua-base \($base) s",
    "over lua-base           \($traced / $base | part); exact profile \($exact / $base | part)",
    "over the profile        \(($traced - $exact) * 1e9 / $calls | part) ns a call",
    "read by trace stat      \($read) s, \($bytes / $read / 1e6 | part) MB/s",
    if $others < 0 or $others > 9 or $calls < 2692537 * $rounds then
        "the profile has \($calls) calls: they do not add up" | halt_error(1)
    else "every call is accounted for" end'
