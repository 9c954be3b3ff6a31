#!/bin/sh
# trace_stat.sh BUILD [MEGABYTES [RUNS]]: how fast is `qprof trace stat`, and in how much memory?
#
# qlua records a recursive function, calls at random depths of many functions, and text handling until
# the trace has MEGABYTES (1100) as the rings hold it, 16 bytes a record; the file has 2 to 4 bytes a
# record. It is read RUNS (5) times from memory; the least time counts, since other programs can
# only add to it: the elapsed time, which two threads share, and the processor time of both. MB are 10^6 bytes. Not part of the tests: no test depends on how busy a machine is.
set -eu
build=$(cd "${1:?usage: trace_stat.sh BUILD [MEGABYTES [RUNS]]}" && pwd)
megabytes=${2:-1100}
runs=${3:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >work.lua <<'END'
local n_calls, most = 0, tonumber(arg[1]) * 1000000 / 32
local function fib(n)
    n_calls = n_calls + 1
    return n < 2 and n or fib(n - 1) + fib(n - 2)
end
local steps = {}
for i = 1, 200 do
    steps[i] = function(depth)
        n_calls = n_calls + 1
        if depth > 0 then return 1 + steps[math.random(200)](depth - 1) end
        return 0
    end
end
local function words(text)
    local counts = {}
    for word in text:gmatch("%w+") do
        counts[word:lower()] = (counts[word:lower()] or 0) + 1
        n_calls = n_calls + 3
    end
    return counts
end
while n_calls < most do
    fib(20)
    for i = 1, 200 do steps[i](math.random(4)) end
    words(("the quick brown fox jumps over the lazy dog "):rep(100))
end
END
QPROF="-output=run.qprof -collect=profile,trace -trace-output=run.qtrace -trace-buffer=1G" \
    "$build/bin/qlua" work.lua "$megabytes"

bytes=$(stat -c %s run.qtrace)
"$build/bin/qprof" trace stat --format=json run.qtrace >stat.json
records=$(sed -n 's/.*"records": *\([0-9]*\).*/\1/p' stat.json)
lost=$(sed -n 's/.*"lost": *\([0-9]*\).*/\1/p' stat.json)
i=0
while [ $((i += 1)) -le "$runs" ]; do
    /usr/bin/time -f '%e %U %S %M' "$build/bin/qprof" trace stat run.qtrace 2>&1 >table | tail -n 1
done | awk '{ cpu = $2 + $3; if (!elapsed || $1 < elapsed) elapsed = $1; if (!least || cpu < least) least = cpu; peak = $4 }
            END { print elapsed, least, peak }' |
    awk -v bytes="$bytes" -v records="$records" -v lost="$lost" '{
        printf "%d records, %d lost; %.1f MB of file, %.2f bytes a record\n", records, lost,
            bytes / 1e6, bytes / records
        printf "trace stat: %.2f s elapsed, %.2f s of processor time, peak %.1f MB of memory\n", $1, $2, $3 * 1024 / 1e6
        printf "  %7.1f MB/s of the file\n  %7.1f MB/s of records as in the rings\n",
            bytes / $1 / 1e6, 16 * records / $1 / 1e6
        printf "  %7.1f million records/s\n", records / $1 / 1e6
    }'
