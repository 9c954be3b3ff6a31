#!/bin/sh
# gate.sh: gates of diff: equal programs do not fail, a slower function does not pass, and counts do not vary
#
# gate.sh [ROUNDS]: 50 by default, each of five runs a side; 0: counts alone. Under load each processor has two other busy
# programs; a function with 11 % of the time is made 30 % slower. Twenty minutes; on a machine that is busy with
# other things, an hour, and it finds less. The results are kept in tests/cli/results/gate-times.txt and
# gate-counts.txt.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${QPROF_BIN:-$root/build/bin}
rounds=${1:-50}
[ -x "$bin/qlua" ] || { echo "gate.sh: $bin/qlua is not built"; exit 2; }
PATH=$bin:$PATH
export LC_ALL=C
unset QPROF
work=$(mktemp -d)
busy=
calm() {
    for pid in $busy; do kill "$pid" 2>/dev/null || :; done
    busy=
}
trap 'calm; rm -rf "$work"' EXIT
cd "$work"

# work 100: as always; 130: a third function has 30 % more to do. "more" plants one call.
cat >program.lua <<'END'
local share, more = tonumber(arg[1]), arg[2] == "more"
local function loop(n) local x = 0 for i = 1, n do x = (x * 31 + i) % 65537 end return x end
local function tables(n) local t = {} for i = 1, n do t[i] = {i} end return #t end
local function planted(n) local x = 1 for i = 1, n do x = (x * 17 + i) % 65521 end return x end
local function text(n) local t = {} for i = 1, n do t[i] = "x" .. i end return table.concat(t) end
local function small(n) return n end
for i = 1, 40 do
    loop(60000) tables(3000) planted(250 * share) text(3000) small(i)
end
if more then small(1) end
END

# sides BASE NEW: five runs of each, alternating. Arguments are those of the program.
sides() {
    for i in 1 2 3 4 5; do
        qprof run -o base-$i.qprof -- qlua program.lua $1 >/dev/null 2>&1
        qprof run -o new-$i.qprof -- qlua program.lua $2 >/dev/null 2>&1
    done
}

# verdicts BASE NEW: how many rounds passed, failed, and were not certain
verdicts() {
    pass=0 fail=0 unsure=0
    for round in $(seq "$rounds"); do
        sides "$1" "$2"
        status=0
        qprof diff --fail-if-slower=20 --base base-?.qprof --new new-?.qprof >out 2>err || status=$?
        case $status in
        0) pass=$((pass + 1)) ;;
        1) fail=$((fail + 1)) ;;
        3) unsure=$((unsure + 1)) ;;
        *) cat err; exit 2 ;;
        esac
    done
}

load() {
    for i in $(seq $((2 * $(nproc)))); do
        sh -c 'while :; do :; done' &
        busy="$busy $!"
    done
}

# begin NAME: the head of a result
begin() {
    report=$root/tests/cli/results/gate-$1.txt
    mkdir -p "${report%/*}"
    printf 'tests/long.sh gate %s, %s, %s processors, load average before: %s\n\n' "$rounds" "$(date -u +%F)" \
        "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)" | tee "$report"
}
failed=0
row() { printf '%-44s %s\n' "$1" "$2" | tee -a "$report"; }
must() { "$@" || failed=1; }

if [ "$rounds" != 0 ]; then
    begin times
    verdicts 100 130
    row "30 % slower, no load of our own" "fail $fail, cannot tell $unsure, pass $pass"
    must test $fail = "$rounds"
    load
    verdicts 100 130
    row "30 % slower, two busy programs a processor" "fail $fail, cannot tell $unsure, pass $pass"
    must test $pass = 0
    verdicts 100 100
    row "equal, two busy programs a processor" "pass $pass, cannot tell $unsure, fail $fail"
    must test $fail = 0
fi

# Counts have no noise: they are compared while the machine is busy.
begin counts
found=0 alike=0
for round in $(seq 20); do
    for which in 1 2 3; do
        more=$(test $which = 3 && echo more || :)
        qprof run -o count-$which.qprof -allocations=yes -time=none -- qlua program.lua 100 $more >/dev/null 2>&1
    done
    status=0
    qprof diff --fail-if-more=calls:0 count-1.qprof count-3.qprof >out 2>err || status=$?
    [ $status = 1 ] && grep -q 'calls of small grew by 1, ' err && found=$((found + 1))
    qprof diff --fail-if-more=calls:0,bytes:0,objects:0,instructions:0 count-1.qprof count-2.qprof >out 2>err &&
        qprof diff --fail-if-more=calls:0,bytes:0,objects:0,instructions:0 count-2.qprof count-1.qprof >out 2>err &&
        alike=$((alike + 1))
done
row "one more call, one run a side" "found $found of 20"
row "equal, one run a side: all counts agree" "$alike of 20"
must test $found = 20
must test $alike = 20
exit $failed
