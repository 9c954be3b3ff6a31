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
qprof export --to=pprof --threads -o threads.pprof run.qprof
claim "threads are labels" same '25.0us .main_1. 7.0us .co_2.' "$(go tool pprof -tags threads.pprof |
    sed -n 's/^ *\([0-9.]*us\) (.*): \(.*\)$/\1 \2/p' | xargs)"
# a: 7 us in f, 2 in itself, and with b inside it 4 us more, which are b's; main has 1 us outside of them
record requests.qprof 'main(' 1 '[GET /a' 2 'f(' 7 '[b' 4 ']' ')' ']' ')'
export_profile pprof requests
claim "endpoints are labels" same '4.0us b,9.0us GET /a' "$(go tool pprof -tags requests.pprof 2>/dev/null |
    sed -n '/endpoint/,/^$/s/^ *\([0-9.]*us\) (.*): \(.*\)$/\1 \2/p' | sort | paste -sd,)"
claim "... and by nothing else" same '' "$(go tool pprof -tags run.pprof 2>/dev/null | grep endpoint)"
claim "functions have file and line" grep -Eq 'f score.src:11(:0)? s=11(\(0\))?$' <<END
$(go tool pprof -raw run.pprof)
END
claim "the program has a name" grep -qx 'File: score' <<END
$(go tool pprof -top run.pprof)
END
# duration FILE: of the run, ns
duration() { qprof report --format=json "$1" | jq .run.duration; }
claim "the duration is the run's" same "$(duration run.qprof)" "$(duration run.pprof)"
record later.qprof 'main(' 10 ')'
qprof merge -o both-runs.qprof run.qprof later.qprof >/dev/null
export_profile pprof both-runs
claim "... or the sum of all runs, without what lies between" same "$(($(duration run.qprof) + 10000))" \
    "$(duration both-runs.pprof)"
qprof export --to=pprof -o one.pprof --thread=2 run.qprof
claim "one thread" same 'co 7us 7us' "$(top one.pprof)"
claim "a profile less itself is nothing" grep -qx \
    'Showing nodes accounting for 0, 0% of 32us total' <<END
$(go tool pprof -top -diff_base=run.pprof run.pprof)
END
go tool pprof -proto -output=sum.pprof run.pprof run.pprof >/dev/null 2>&1
claim "two of it are twice of it" same 'main 28us 50us' "$(top sum.pprof | grep main)"
# f is 3 us slower in the other run, which has no co
record slow.qprof 'main(' 10 'f(' 8 'g(' 3 'f(' 2 ')' ')' ')' 4 'leaf;1 2(' 1 ')' ')'
export_profile pprof slow
claim "a difference: f is slower, co is gone" same 'co -7us -7us,f 3us 3us' \
    "$(top -diff_base=run.pprof slow.pprof | grep -E '^(co|f) ' | paste -sd ,)"
# g called f, which led back to it: 2 us of f's are below g, and g's 5 us below f
go tool pprof -peek '^g$' run.pprof 2>/dev/null | sed '1,/cum%/d' | grep '|' |
    awk '{ print $1, $NF }' | paste -sd , >found
claim "callers and callees" same '5us f,3us g,2us f' "$(cat found)"
printf 'f 7us 10us\ng 3us 5us\nmain 14us 25us\n' >wanted
go tool pprof -tree run.pprof 2>/dev/null |
    awk '$5 ~ /%$/ && $NF ~ /^(main|f|g)$/ { print $NF, $1, $4 }' | sort >found
claim "the tree" diff -u wanted found

# main has 9 us on its second line and 2 on its third, a sample each; g has 3 on its first
record lines.qprof 'main(' ':1' 9 'g(' 3 ')' ':2' 2 ')'
export_profile pprof lines
seq 30 | sed 's/^/code /' >score.src
printf '. 3us 1\n9us 9us 2\n2us 2us 3\n' >wanted
go tool pprof -source_path=. -list '^main$' lines.pprof 2>complaints |
    sed -n 's/^ *\([0-9us.]*\)  *\([0-9us.]*\)  *[0-9]*:code \([0-9]*\)$/\1 \2 \3/p' |
    grep us >found
claim "lines: self time of each, calls where the function begins" diff -u wanted found
timed() { qprof annotate --format=json "$1" | jq -c '[.files[].lines[] | select(.self > 0) | [.line, .self]]'; }
claim "... and back" same "$(timed lines.qprof)" "$(timed lines.pprof)"

# ---- samples and PC samples -------------------------------------------------------------------------
# head_of FILE: period, its type, and the values
head_of() { go tool pprof -raw "$1" | awk '/^PeriodType/ { t = $2 } /^Period:/ { p = $2 }
    last ~ /^Samples/ { print p, t, $0 } { last = $0 }' | sed 's/\[dflt\]//'; }
export_profile pprof samples
printf 'co 6 6\nf 9 11\ng 2 6\nmain 3 14\n' >wanted
top -sample_index=samples samples.pprof >found
claim "samples, own and below" diff -u wanted found
printf 'co 6ms 6ms\nf 9ms 11ms\ng 2ms 6ms\nmain 3ms 14ms\n' >wanted
top samples.pprof >found
claim "... and the times that they represent" diff -u wanted found
claim "... by CPU time, one a ms, and no calls" same '1000000 cpu samples/count cpu/nanoseconds' \
    "$(head_of samples.pprof)"
qprof export --to=pprof -o back.pprof samples.pprof
for index in cpu samples; do
    claim "imported and exported again: the same $index" same \
        "$(top -sample_index=$index samples.pprof)" "$(top -sample_index=$index back.pprof)"
done
claim "... the same period" same "$(head_of samples.pprof)" "$(head_of back.pprof)"
estimates() { qprof report --format=json "$1" | jq -c '[.methods[] | [.name, .samples, .self, .self_half]] | sort'; }
claim "... the same intervals" same "$(estimates samples.qprof)" "$(estimates back.pprof)"
claim "... and no difference" same 0 "$(qprof diff --format=json samples.qprof back.pprof |
    jq '[.rows[] | select(.state != "same")] | length')"

export_profile pprof both
printf '.root. 2 2\nf 5 5\nmain 3 8\n' >wanted
top -sample_index=pc_samples both.pprof >found
claim "PC samples beside times" diff -u wanted found
claim "... with their period" same '1000000 cpu calls/count pc_samples/count wall/nanoseconds' \
    "$(head_of both.pprof)"
claim "... and back" same 'main 1 13000 3,f 1 2000 5' "$(qprof report --format=json both.pprof |
    jq -r '.methods[] | select(.calls > 0) | "\(.name) \(.calls) \(.self) \(.pc_samples)"' | paste -sd ,)"
claim "... where list has them" same 10 "$(qprof list --samples --format=json both.pprof |
    jq .summary.counted)"

go run "$root/tests/export/busy.go" go.pprof
qprof export --to=pprof -o ours.pprof go.pprof
claim "what Go recorded has the same period" same "$(head_of go.pprof)" "$(head_of ours.pprof)"
for index in cpu samples; do
    top -sample_index=$index go.pprof | sed 's/ (inline)//' >wanted
    top -sample_index=$index ours.pprof >found
    claim "... the same $index" diff -u wanted found
done

qprof export --to=pprof run.qprof >again.pprof
claim "the same profile gives the same bytes" cmp run.pprof again.pprof

QPROF="-output=counts.qprof -time=none" ./score 'main(' 'f(' ')' ')'
qprof export --to=pprof -o counts.pprof counts.qprof
claim "a run without times has calls" same 'f 1 1,main 1 2' "$(top counts.pprof | paste -sd ,)"

export_profile pprof hostile
claim "hostile names: all of the time" same '13us' "$(top hostile.pprof |
    awk '$1 == "main" { print $3 }')"
claim "... and no control character" same 0 "$(go tool pprof -raw hostile.pprof | grep -c '[[:cntrl:]]')"
export_profile pprof deep
claim "paths of 5,001 frames end at 1,024, with all of the time" same 'main 1us 2us' \
    "$(top deep.pprof | grep main)"

${CC:-cc} -I"$root/include" "$root/tests/export/inlined.c" "$QPROF_LIB/libqprof.a" -pthread -o inlined
./inlined
export_profile pprof inlined
printf '1 f\n1 g_(inline) i\n1 i\n3 g_(inline) f\n3 h_(inline) g_(inline) f\n' >wanted
go tool pprof -sample_index=calls -traces inlined.pprof 2>/dev/null | sed '1,/^---/d' |
    awk '/^---/ { if (path != "") print path; path = ""; next }
         /:/ { next }
         { sub(/ \(inline\)/, "_(inline)"); gsub(/^ +| +$/, ""); gsub(/ +/, " ")
           path = path (path == "" ? "" : " ") $0 }' | sort >found
claim "inlined functions share the location of their caller" diff -u wanted found
claim "... and are read back" same 'f 1,g 4,h 3,i 1' "$(qprof report --format=json inlined.pprof |
    jq -r '[.methods[] | "\(.name) \(.calls)"] | sort | join(",")')"
finish
