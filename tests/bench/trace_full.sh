#!/bin/sh
# trace_full.sh BUILD [CALLS [OPTIONS...]]: calls at full speed, 100 million by default, in a trace with default
# options: all of them are in it, or the head of the report says what was lost and why.
#
# Fails unless each call of the profile is in the trace or among the lost records, and a loss is in the message.
set -eu
unset QPROF
build=$(cd "${1:?usage: trace_full.sh BUILD [CALLS [OPTIONS...]]}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
calls=${2:-100000000}
[ $# -le 2 ] && shift $# || shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
${CC:-cc} -O2 -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/bench/trace_full.c" \
    "$build/lib/libqprof.a" -lpthread -o trace_full
./trace_full "$calls" "-output=run.qprof -trace-output=run.qtrace $*"
"$build/bin/qprof" info --format=json run.qprof >info.json
"$build/bin/qprof" report --format=json run.qprof >report.json
"$build/bin/qprof" trace stat --format=json run.qtrace >stat.json 2>remarks
jq -nr --slurpfile info info.json --slurpfile report report.json --slurpfile stat stat.json \
    --rawfile remarks remarks '
    ($report[0].methods | map(.calls) | add) as $calls | ($stat[0].calls | map(.calls) | add) as $traced |
    ($stat[0].calls | map(.incomplete) | add) as $cut | $stat[0].trace.lost as $lost |
    ([$info[0].run.notes[]? | select(startswith("trace: "))]) as $messages |
    "in the profile \($calls), in the trace \($traced), of them cut \($cut), lost \($lost) records",
    $messages[], $remarks,
    if $lost == 0 and ($traced != $calls or $cut != 0) then
        "the trace is not complete, and nothing was lost" | halt_error(1)
    elif $lost > 0 and ($messages == [] or $remarks == "" or $traced + $lost < $calls) then
        "a loss is not explained" | halt_error(1)
    else empty end'
