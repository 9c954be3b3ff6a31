#!/bin/sh
# test_lines.sh [BUILD]: samples find the lines that run. In each function of known/shares.lua three loops do
# 60, 30 and 10 percent of the work.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/known"

# Of a function's samples the parts of its three lines, in percent, and how many there are.
parts() { # PROFILE FUNCTION
    for part in 60 30 10; do
        line=$(grep -n -- "-- $2 $part\$" shares.lua | cut -d : -f 1)
        "$bin/qprof" annotate --format=json "$tmp/$1.qprof" |
            jq ".files[0].lines[] | select(.line == $line) | .samples"
    done | paste -sd ' ' | awk '{ n = $1 + $2 + $3; print 100 * $1 / n, 100 * $2 / n, 100 * $3 / n, n }'
}

functions="plain calls allocations lua_calls body"

# shares: of each function the parts of its lines, and how many samples they have
shares() {
    for function in $functions; do
        echo "$function $(parts shares $function)"
    done
}

# n_samples SHARES
n_samples() {
    echo "$1" | awk '{ n += $5 } END { print n + 0 }'
}

# The lines of the functions have 60, 30 and 10 percent, each within 3 points. At 1,000 samples chance alone keeps
# 95 of 100 figures within that, so the test takes more: at 3,000 it is 3.4 standard deviations. On a
# busy machine samples of one function come in clusters, so of each alone less is claimed: the loop of 60 percent has more
# than that of 10.
for options in "-time=exact '-pc=VIRTUAL 200'" "-time=sampled '-pc=VIRTUAL 200'"; do
    for rounds in 5 15 45; do
        record "$options" shares shares.lua $rounds
        found=$(shares)
        [ "$(n_samples "$found")" -lt 3000 ] || break
    done
    echo "$found" | awk -v name="$options" '
        { a += $2 * $5; b += $3 * $5; c += $4 * $5; n += $5 }
        function differs(part, wanted) { return part / n < wanted - 3 || part / n > wanted + 3 }
        END {
            if (n < 1000 || differs(a, 60) || differs(b, 30) || differs(c, 10)) {
                print "FAIL: " name ": all functions: " a / n, b / n, c / n, n; exit 1
            }
        }' || failures=$((failures + 1))
    "$bin/qprof" check "$tmp/shares.qprof" >"$tmp/check" || {
        cat "$tmp/check"
        complain "$options: check"
    }
    echo "$found" | awk -v name="$options" '
        $5 < 20 || $2 <= $4 { print "FAIL: " name ": " $0; failed = 1 }
        END { exit failed }' || failures=$((failures + 1))
    # What lines have is what their functions have; each was rounded to nanoseconds.
    "$bin/qprof" annotate --format=json "$tmp/shares.qprof" >"$tmp/lines"
    "$bin/qprof" report --format=json "$tmp/shares.qprof" >"$tmp/report"
    jq -e -n --slurpfile lines "$tmp/lines" --slurpfile report "$tmp/report" '
        ([$lines[0].files[].lines[].self] | add) as $sum |
        ([$report[0].methods[] | select(.line > 0 and .self > 0) | .self] | add) as $all |
        $sum <= $all + 1000 and $sum > 0.5 * $all' >/dev/null || complain "$options: sums of lines"
done

# A sum of two runs has the samples of both.
record "-time=sampled '-pc=VIRTUAL 200'" again shares.lua 2
rm -f "$tmp/both.qprof"
"$bin/qprof" merge -o "$tmp/both.qprof" "$tmp/shares.qprof" "$tmp/again.qprof"
samples() {
    "$bin/qprof" annotate --format=json "$tmp/$1.qprof" | jq '[.files[].lines[].samples] | add'
}
[ "$(samples both)" = $(($(samples shares) + $(samples again))) ] || complain "merge: samples"
"$bin/qprof" check "$tmp/both.qprof" >/dev/null || complain "merge: check"

# Modes without samples have no times of lines.
record "" exact shares.lua 1
[ "$(samples exact)" = 0 ] || complain "exact: samples"
finish
