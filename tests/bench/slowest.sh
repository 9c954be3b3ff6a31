#!/bin/sh
# slowest.sh [BUILD] [ROUNDS]: what -slowest costs and keeps: 100,000 requests, of which 100 do 40 times the work.
#
# Each round runs the program without requests, with them, and with -slowest as well, one right after the
# other; a price is the median of the ratios of these pairs, of processor time. Instructions are counted by callgrind,
# if it is installed, over shorter runs. Of each endpoint 10 are slow and 50 are kept, since others take long at
# times, when the processor is taken from them. A request has a price of its own; a call in it has none. Fails unless all requests are counted, the 100 are kept whole, the file has 8 MB
# at most, and -slowest costs 1.10 at most in instructions. Times are printed, not judged.
set -eu
unset QPROF LUA_PATH LUA_CPATH LUA_INIT
bin=$(cd "${1:-build}" && pwd)/bin
rounds=${2:-9}
program=$(cd "$(dirname "$0")" && pwd)/slowest.lua
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# options of a row, and what its program does
exact=-time=exact
slowest="-time=exact -slowest=50/1h"

# seconds OPTIONS WHAT: processor time of a run
seconds() {
    rm -f run.qprof
    QPROF="-output=run.qprof $1" bash -c 'TIMEFORMAT="%U %S"; time "$@"' - "$bin/qlua" "$program" 100000 "$2" 2>&1 |
        awk '{ printf "%.3f", $1 + $2 }'
}
round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    echo "$(seconds "$exact" calls) $(seconds "$exact" requests) $(seconds "$slowest" requests)"
done >times

median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.3f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
calls=$(cut -d' ' -f1 times | median)
requests=$(cut -d' ' -f2 times | median)
kept=$(cut -d' ' -f3 times | median)
price_requests=$(awk '{ print $2 / $1 }' times | median)
price_kept=$(awk '{ print $3 / $2 }' times | median)

# instructions OPTIONS WHAT: of 4,000 requests, without those of the start
count() {
    QPROF="-output=count.qprof -elapsed-source=tsc -clock-reads=overlap $1" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$bin/qlua" "$program" "$3" "$2" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
instructions() { echo $(($(count "$1" "$2" 8000) - $(count "$1" "$2" 4000))); }
if command -v valgrind >/dev/null; then
    i_calls=$(instructions "$exact" calls)
    i_requests=$(instructions "$exact" requests)
    i_kept=$(instructions "$slowest" requests)
else
    i_calls=1 i_requests=1 i_kept=1
    echo "valgrind is not installed: no instructions"
fi
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'; }

printf '%-36s %10s %12s %14s %12s\n' '100,000 requests by qlua' 'CPU s' 'over before' 'instructions' 'over before'
printf '%-36s %10s %12s %14s %12s\n' "exact, the same calls, no requests" "$calls" - "$i_calls" -
printf '%-36s %10s %12s %14s %12s\n' "exact, requests of 10 endpoints" "$requests" "$price_requests" "$i_requests" \
    "$(ratio "$i_requests" "$i_calls")"
printf '%-36s %10s %12s %14s %12s\n' "exact, -slowest=50/1h" "$kept" "$price_kept" "$i_kept" \
    "$(ratio "$i_kept" "$i_requests")"

"$bin/qprof" requests --format=json run.qprof >endpoints.json
"$bin/qprof" requests --slowest --format=json run.qprof >kept.json
"$bin/qprof" info --format=json run.qprof >info.json
bytes=$(stat -c %s run.qprof)
jq -nr --slurpfile endpoints endpoints.json --slurpfile kept kept.json --slurpfile info info.json --argjson bytes "$bytes" \
    --argjson price "$(ratio "$i_kept" "$i_requests")" '
    ([$endpoints[0].endpoints[] | select(.endpoint | startswith("GET")) | .requests] | unique) as $counts |
    ([$kept[0].requests[] | select(.calls > 800)]) as $slow |
    ([$slow[].trace | .[-5:]] | unique | length) as $traces |
    ($info[0].diagnostics.request_unkept // 0) as $unkept |
    "requests counted         10 endpoints, each \($counts | map(tostring) | join(", "))",
    "with 40 times the work   \($slow | length) kept whole, \([$slow[].missing] | add // 0) of their calls and returns missing",
    "kept in all              \($kept[0].requests | length), \($unkept) found no room",
    "file                     \($bytes / 1e6 * 100 | round / 100) MB",
    if $counts != [10000] or ($slow | length) != 100 or $traces != 100 or ([$slow[].missing] | add) != 0 then
        "not all of the slow requests were kept" | halt_error(1)
    elif $bytes > 8e6 then "the file is too large" | halt_error(1)
    elif $price > 1.10 then "-slowest costs too much" | halt_error(1)
    else empty end'
