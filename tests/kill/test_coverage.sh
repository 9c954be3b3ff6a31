#!/bin/sh
# test_coverage.sh: qlua with coverage is killed at moments of its own; what it had counted when it
# reported is in the file that it leaves. The moment is a number of lines written, not a time.
set -eu

test -x "$QPROF_BIN/qlua" || { echo "qlua was not built"; exit 77; }
command -v jq > /dev/null || { echo "jq is not installed"; exit 77; }

cat > program.lua <<'END'
local qlua = require("qlua")
local function work(n)
    if n % 2 == 0 then
        return n
    end
    return -n
end
local round = 0
while true do
    round = round + 1
    qlua.context("context " .. round % 3)
    for i = 1, 100 do work(i) end
    io.write(round, "\n")
    io.flush()
end
END

# hits LINE: of $profile
hits() {
    "$QPROF_BIN/qprof" cover report --format=json "$profile" 2> report.txt |
        jq --argjson line "$1" '[.files[].lines[] | select(.line == $line) | .hits] | add // 0'
}

. "$QPROF_SOURCE/tests/kill/lib.sh"
kill_number=0
while [ "$kill_number" -lt 20 ]; do
    kill_number=$((kill_number + 1))
    collected=$(echo "coverage profile,coverage" | cut -d' ' -f$((kill_number % 2 + 1)))
    n_rounds=$((kill_number * kill_number))
    kill_after "$n_rounds" "-collect=$collected"
    # The program may have been a few rounds further than what was read of it.
    for wanted in "3 100" "4 50" "6 50" "12 100" "13 1"; do
        line=${wanted% *} least=$((${wanted#* } * n_rounds))
        found=$(hits "$line")
        [ "$found" -ge "$least" ] || {
            echo "kill $kill_number, $collected: line $line has $found hits, $least were done"
            exit 1
        }
    done
    rm -f "$profile"
done
echo "$kill_number kills, nothing that was counted is lost"
