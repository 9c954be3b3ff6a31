#!/bin/sh
# test_pprof.sh: go tool pprof's figures are ours: own and cumulative time, calls, threads as
# labels, sources; it adds profiles up and subtracts them.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need go golang-go
export HOME="$PWD" GOFLAGS=-mod=mod GOTOOLCHAIN=local

# top WORDS...: "name flat cumulative" of its table, sorted
top() {
    go tool pprof -top -nodecount=1000 -nodefraction=0 "$@" 2>complaints |
        sed '1,/flat%/d' | awk '{ print $6, $7, $8, $1, $4 }' | tr -s ' ' | sort
}
export_profile pprof run
printf 'co 7us 7us\nf 7us 10us\ng 3us 5us\nleaf;1 2 1us 1us\nmain 14us 25us\n' >wanted
top run.pprof >found
claim "own and cumulative times" diff -u wanted found
printf 'co 1 1\nf 2 3\ng 1 2\nleaf;1 2 1 1\nmain 1 5\n' >wanted
top -sample_index=calls run.pprof >found
claim "calls, own and below" diff -u wanted found
claim "threads are labels" same '25.0us .main_1. 7.0us .co_2.' "$(go tool pprof -tags run.pprof |
    sed -n 's/^ *\([0-9.]*us\) (.*): \(.*\)$/\1 \2/p' | xargs)"
claim "functions have file and line" grep -q 'f score.src:11 s=11$' <<END
$(go tool pprof -raw run.pprof)
END
claim "the program has a name" grep -qx 'File: score' <<END
$(go tool pprof -top run.pprof)
END
qprof export --to=pprof -o one.pprof --thread=2 run.qprof
claim "one thread" same 'co 7us 7us' "$(top one.pprof)"
claim "a profile less itself is nothing" grep -qx \
    'Showing nodes accounting for 0, 0% of 32us total' <<END
$(go tool pprof -top -diff_base=run.pprof run.pprof)
END
go tool pprof -proto -output=sum.pprof run.pprof run.pprof >/dev/null 2>&1
claim "two of it are twice of it" same 'main 28us 50us' "$(top sum.pprof | grep main)"
qprof export --to=pprof run.qprof >again.pprof
claim "the same profile gives the same bytes" cmp run.pprof again.pprof

QPROF="-output=counts.qprof -time=none" ./score 'main(' 'f(' ')' ')'
qprof export --to=pprof -o counts.pprof counts.qprof
claim "a run without times has calls" same 'f 1 1,main 1 2' "$(top counts.pprof | paste -sd ,)"

export_profile pprof hostile
claim "hostile names: all of the time" same '7us' "$(top hostile.pprof |
    awk '$1 == "main" { print $3 }')"
claim "... and no control character" same 0 "$(go tool pprof -raw hostile.pprof | grep -c '[[:cntrl:]]')"
export_profile pprof deep
claim "paths of 5,001 frames end at 1,024, with all of the time" same 'main 1us 2us' \
    "$(top deep.pprof | grep main)"
finish
