#!/bin/sh
# test_budget.sh: the event path costs no more instructions than budget.txt allows.
#
# callgrind counts two runs of different length; their difference, divided by the events between
# them, is free of start-up, but for the rounds that the recorder's measurement of its own cost takes.
# Which calls adaptive timing times depends on the time that valgrind takes: that evens out over runs
# twice as long. A program that was interrupted for long reads the CPU clock more often, so a row that is
# too high is counted up to twice more: what a call costs is the least.
set -eu
budget="$QPROF_SOURCE/tests/bench/budget.txt"
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }

# count ROW PAIRS: instructions of a whole run
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$QPROF_BIN/qprof-bench" --count \
        "$1" "$2" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# each ROW N: instructions of an event
each() {
    few=$(count "$1" "$2")
    many=$(count "$1" $((2 * $2)))
    [ "$few" ] && [ "$many" ] || { echo "$1: valgrind counted nothing" >&2; exit 1; }
    echo $(((many - few + $2 / 2) / $2))
}

# The budget is that of GCC 12; code of another compiler may have a twentieth more.
more=0
readelf -p .comment "$QPROF_LIB/libqprof.so" | grep -q 'GCC: .* 12\.' || more=20
[ $more = 0 ] || echo "Not compiled by GCC 12: each row may have 1/$more more."

failed=0
while read -r row most; do
    case "$row" in
        '' | '#'*) continue ;;
        adaptive-*) n=200000 ;;
        exact-* | traced-* | watched-* | hit-* | switches*) n=100000 ;;
        *) n=25000 ;; # without a clock each event is like the one before
    esac
    [ $more = 0 ] || most=$((most + (most + more - 1) / more))
    least=$(each "$row" $n)
    for again in 1 2; do
        [ "$least" -le "$most" ] && break
        next=$(each "$row" $n)
        [ "$next" -lt "$least" ] && least=$next
    done
    verdict=ok
    if [ "$least" -gt "$most" ]; then
        verdict="TOO MANY"
        failed=1
    fi
    printf '%-24s %4d of %4d  %s\n' "$row" "$least" "$most" "$verdict"
done <"$budget"
exit $failed
