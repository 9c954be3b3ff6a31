#!/bin/sh
# test_requests.sh: qlua.request() counts every request, in every mode, and passes on what its function did.
set -eu
unset QPROF
mistakes=0
program=$QPROF_SOURCE/tests/lua/requests.lua
"$QPROF_BIN/qlua" "$program" || { echo "without a recorder it fails"; exit 1; }
cat >wanted <<'END'
 1,0,0
co 10,1,1
failing 4,4,0
header 10,0,0
inner 1,0,0
nested 1,1,0
no function 0,0,0
not callable 1,1,0
outer 1,0,0
END
for mode in -time=exact -time=adaptive -time=none -collect=profile,coverage "-collect=profile,trace -trace-mode=overwrite" \
    -check-host=yes "-time=exact -thread-rows=1"; do
    rm -f run.qprof
    QPROF="-output=run.qprof $mode" "$QPROF_BIN/qlua" "$program" || { echo "$mode: fails"; mistakes=1; continue; }
    "$QPROF_BIN/qprof" check run.qprof >checked || { echo "$mode:"; cat checked; mistakes=1; }
    "$QPROF_BIN/qprof" requests --format=json run.qprof >requests.json
    jq -r '.endpoints[] | select(.endpoint | startswith("GET") | not) | select(.endpoint | startswith("longlong") | not) |
        "\(.endpoint) \(.requests),\(.failed),\(.cut)"' requests.json | sed 's/^<other>//' | sort >found
    grep -v '^no function' wanted | sort | cmp -s - found || { echo "$mode:"; diff wanted found || true; mistakes=1; }
    found=$(jq -c '[.endpoints[] | select(.endpoint | startswith("GET")) | .requests] | unique' requests.json)
    [ "$found" = "[10000]" ] || { echo "$mode: requests of the ten endpoints: $found"; mistakes=1; }
    found=$(jq -r '[.endpoints[] | select(.endpoint == "GET /7") | .slowest_trace] | .[0]' requests.json)
    [ "$found" = "0af7651916cd43dd8448eb211c80319c" ] || { echo "$mode: the slowest is $found"; mistakes=1; }
    found=$("$QPROF_BIN/qprof" report --endpoint='GET /7' --format=json run.qprof |
        jq -c '[.methods[] | select(.name == "handle" or .name == "work") | .hits] | unique')
    [ "$found" = "[10000]" ] || { echo "$mode: calls below GET /7: $found"; mistakes=1; }
    if [ "$mode" = "-check-host=yes" ]; then
        "$QPROF_BIN/qprof" check --host run.qprof >checked || { cat checked; mistakes=1; }
    fi
done
exit $mistakes
