#!/bin/sh
# test_deep.sh: what a call costs in a request that is to be kept whole does not depend on how deep it is.
set -eu
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
cat >deep.lua <<'LUA'
local qlua = require("qlua")
local function deep(n) if n > 0 then return 1 + deep(n - 1) end return 0 end
qlua.request("deep", nil, deep, tonumber(arg[1]))
LUA

# run DEPTH: instructions of a whole run
run() {
    QPROF="-output=deep.qprof -slowest=8" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$QPROF_BIN/qlua" deep.lua "$1" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# count DEPTH: the least of three, because a program that is interrupted for long reads another clock
count() { for again in 1 2 3; do run "$1"; done | sort -n | head -n 1; }

few=$(count 2000) more=$(count 4000) most=$(count 8000)
first=$(((more - few) / 2000)) second=$(((most - more) / 4000))
echo "a call: $first instructions at 2,000 to 4,000 frames, $second at 4,000 to 8,000"
[ "$first" -gt 0 ] && [ "$second" -le $((first + first / 4)) ] || {
    echo "test_deep.sh: deeper calls cost more"
    exit 1
}
