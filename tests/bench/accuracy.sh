#!/bin/sh
# accuracy.sh: sampled shares against known ones. accuracy.sh BUILD-FOLDER [SECONDS]
#
# shares.c has 50, 30, 15 and 5 % of its CPU time in four functions, or sleeps half of its time, or
# makes short system calls, and says what its own clocks found. At 1 kHz each share must be within 2 points of that, by CPU time
# and by the wall clock, from inside and from outside, shallow and deep; sampled and exact times of
# one run. Best on an idle machine: from outside there is only a part of the
# run to compare.
set -u
build=$(cd "${1:?the build folder}" && pwd)
seconds=${2:-10}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PATH=$build/bin:$PATH
unset QPROF
${CC:-cc} -O2 -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/bench/shares.c" \
    "$build/lib/libqprof.a" -lpthread -o shares || exit 1
failures=0

# share NAME EXPECTED FOUND
share() {
    printf '  %-22s %6.1f %%  known %5.1f %%\n' "$1" "$3" "$2"
    awk "BEGIN { d = $3 - $2; exit !(d <= 2 && d >= -2) }" || failures=$((failures + 1))
}
percent() { # PROFILE OF JQ
    qprof list --format=json "$1" 2>/dev/null |
        jq -r "([.rows[] | select(.procedure == \"main\") | .shallow] | add // 0) as \$main |
            .summary as \$s | ($3) * 100 / ($2)"
}
# Of what main calls: its own clocks, which say what is known, are main's.
shallow() { percent "$1" '$s.counted - $main' "[.rows[] | select(.procedure == \"$2\") | .shallow] | add // 0"; }
foreign() { percent "$1" '$s.counted - $main' .summary.foreign; }
deep() { percent "$1" '$s.counted' "[.rows[] | select(.procedure == \"$2\") | .deep] | add // 0"; }
known() { awk -v name="$1" -v at=$([ $kind = REAL ] && echo 2 || echo 3) '$1 == name { print $at }' known; }
# inside KIND PROGRAM, outside KIND PROGRAM: samples in sampled.qprof, what its own clocks say in known
inside() {
    rm -f sampled.qprof
    QPROF="-output=sampled.qprof -collect=samples -pc='$1 1000'" ./shares "$seconds" "$2" >known
}
outside() {
    rm -f sampled.qprof
    QPROF='-output=live.qprof -collect=stack' ./shares $((seconds + 2)) "$2" >known &
    sleep 1
    qprof run --pid $! --for "${seconds}s" --pc "$1 1000" -o sampled.qprof 2>/dev/null
    wait $!
}

for kind in VIRTUAL REAL; do
    for place in inside outside; do
        echo "$kind, from $place"
        $place $kind busy
        for name in a b c d; do share "$name" "$(known $name)" "$(shallow sampled.qprof $name)"; done
        share 'main, deep' 100 "$(deep sampled.qprof main)"
        echo "$kind, from $place, asleep half of the time"
        $place $kind idle
        share foreignPcs "$(known foreignPcs)" "$(foreign sampled.qprof)"
        share work "$(known work)" "$(shallow sampled.qprof work)"
        echo "$kind, from $place, short system calls and naps"
        $place $kind ask
        for name in work ask nap; do share "$name" "$(known $name)" "$(shallow sampled.qprof $name)"; done
    done
done

echo "exact and sampled times of one run, elapsed"
QPROF="-output=both.qprof -time=exact -pc='REAL 1000'" ./shares "$seconds" busy >known
for name in a b c d; do
    exact=$(qprof report --format=json both.qprof |
        jq --arg name "m.$name" '(.methods[] | select(.name == $name) | .self) * 100 / .run.total')
    share "$name" "$exact" "$(shallow both.qprof $name)"
done
[ $failures = 0 ] && echo "all shares are within 2 points" || echo "$failures shares are more than 2 points off"
[ $failures = 0 ]
