#!/bin/sh
# test_shared_rows.sh: calls are exact where all coroutines of a program share one row, in every mode.
set -eu
unset QPROF
mistakes=0
for mode in -time=exact -time=adaptive -time=none -collect=coverage "-collect=profile,trace" -check-host=yes; do
    rm -f run.qprof
    QPROF="-output=run.qprof -thread-rows=1 $mode" "$QPROF_BIN/qlua" "$QPROF_SOURCE/tests/lua/shared_rows.lua"
    "$QPROF_BIN/qprof" check run.qprof >checked || { cat checked; mistakes=1; }
    "$QPROF_BIN/qprof" report --format=json run.qprof >report.json
    found=$(jq -r '[.methods[] | select(.name == "body" or .name == "g" or .name == "outer") |
        "\(.name) \(.calls)"] | sort | join(",")' report.json)
    [ "$found" = "body 9,g 18,outer 4" ] || { echo "$mode: calls: $found"; mistakes=1; }
    losses=$(jq -c '.diagnostics | del(.unwound)' report.json)
    [ "$losses" = "{}" ] || { echo "$mode: $losses"; mistakes=1; }
done
exit $mistakes
