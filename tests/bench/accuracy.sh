#!/bin/sh
# accuracy.sh: sampled shares against known ones. accuracy.sh BUILD-FOLDER [SECONDS]
#
# shares.c has 50, 30, 15 and 5 % of its CPU time in four functions, or sleeps half of its time, and
# says what its own clocks found. At 1 kHz each share must be within 2 points of that, by CPU time
# and by the wall clock, from inside and from outside, shallow and deep; sampled and exact times of
# one run, too. Best on a machine that does nothing else: from outside there is only a part of the
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
percent() { # PROFILE JQ
    qprof list --format=json "$1" 2>/dev/null | jq -r ".summary as \$s | ($2) * 100 / \$s.counted"
}
shallow() { percent "$1" "[.rows[] | select(.procedure == \"$2\") | .shallow] | add // 0"; }
deep() { percent "$1" "[.rows[] | select(.procedure == \"$2\") | .deep] | add // 0"; }
known() { awk -v name="$1" -v at=$([ $kind = REAL ] && echo 2 || echo 3) '$1 == name { print $at }' known; }
four() { # PROFILE
    for name in a b c d; do share "$name" "$(known $name)" "$(shallow "$1" $name)"; done
    share 'main, deep' 100 "$(deep "$1" main)"
}

for kind in VIRTUAL REAL; do
    echo "$kind, from inside"
    QPROF="-output=$kind.qprof -collect=samples -pc='$kind 1000'" ./shares "$seconds" busy >known
    four $kind.qprof
    echo "$kind, from outside"
    QPROF='-output=live.qprof -collect=stack' ./shares $((seconds + 2)) busy >known &
    sleep 1
    rm -f outside.qprof
    qprof run --pid $! --for "${seconds}s" --pc "$kind 1000" -o outside.qprof 2>/dev/null
    wait $!
    four outside.qprof
    echo "$kind, asleep half of the time"
    QPROF="-output=idle-$kind.qprof -collect=samples -pc='$kind 1000'" ./shares "$seconds" idle >known
    share foreignPcs "$(known foreignPcs)" "$(percent idle-$kind.qprof .summary.foreign)"
    share work "$(known work)" "$(shallow idle-$kind.qprof work)"
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
