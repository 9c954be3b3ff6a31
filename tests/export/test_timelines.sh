#!/bin/sh
# test_timelines.sh: formats of tools that draw a time line: trace events and .cpuprofile in the engine
# of Chrome's developer tools, processed profiles in that of the Firefox Profiler.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need jq jq
need_modules
golden=$root/tests/export/golden

# masked FILE: without what is different in every run
masked() {
    pid=$(qprof info --format=json run.qprof | jq .run.pid)
    sed "s/\"$pid/\"PID/g; s/:$pid,/:PID,/g; s/\"startTime\":[0-9]*\.[0-9]*/\"startTime\":START/
        s/qprof [0-9.]*\"/qprof VERSION\"/" "$1"
}
for format in cpuprofile chrome firefox; do
    for name in run hostile deep plain; do
        export_profile $format $name
        claim "$format of $name is JSON" jq -e . $name.$format
        claim "... without control characters" same 0 \
            "$(tr -d '\n' <$name.$format | LC_ALL=C grep -c '[[:cntrl:]]')"
    done
    masked run.$format >found
    claim "$format is as worked out by hand" diff -u "$golden/run.$format" found
done

# ---- Chrome ---------------------------------------------------------------------------------------
record counted.qprof 'main(' ':1' 3 'f(' 1 ')' ':2' 2 ')'
export_profile cpuprofile counted
MODULES=$modules node "$root/tests/export/devtools.mjs" run.chrome run.cpuprofile hostile.chrome \
    hostile.cpuprofile >seen 2>&1
shows() { claim "developer tools show $1" same "$2" "$(sed -n "s/^$1: //p" seen)"; }
shows 'run.chrome .main_1.' 'main 25, f 10, g 5, f 2, leaf;1 2 1'
shows 'run.chrome .co_2.' 'co 7'
shows run.cpuprofile "(root) 0 32 0, all threads 0 32 0, main 14 25 1, f 5 10 11, g 3 5 21, f 2 2 11,\
 leaf;1 2 1 1 31, co 7 7 41"
claim "... and all of hostile names' time" grep -q '^hostile.cpuprofile: (root) 0 13 0' seen
claim "... on both ways" grep -q '^hostile.chrome .main_1.: main 13, two$' seen
[ "$failures" = 0 ] || cat seen
claim "ticks of a function are on its lines" same '[[2,3000],[3,2000]]' "$(jq -c '.nodes[]
    | select(.callFrame.functionName == "main").positionTicks | map([.line, .ticks])' counted.cpuprofile)"

# what is not in ns counts as 1 us
QPROF="-output=none.qprof -time=none" ./score 'main(' 'f(' ')' 'f(' ')' ')'
claim "a run without times has calls" same '[1,2]' \
    "$(qprof export --to=cpuprofile none.qprof | jq -c '.timeDeltas[1:]')"
claim "... in trace events" same 3 "$(qprof export --to=chrome none.qprof | jq '.traceEvents[-1].ts')"
claim "... in Firefox" same '["samples",[1,2]]' \
    "$(qprof export --to=firefox none.qprof | jq -c '.threads[0].samples | [.weightType, .weight]')"

# ---- Firefox --------------------------------------------------------------------------------------
need_profiler_cli
# functions THREAD: "NAME SELF TOTAL" in us, a line each
functions() {
    cli thread functions --thread "$1" --limit 0 --json | jq -r '.functions[]
        | "\(.name) \(.selfSamples * 1e6 | round / 1000) \(.totalSamples * 1e6 | round / 1000)"'
}
cli_load run.firefox
printf 'main 14 25\nf 7 10\ng 3 5\nleaf;1 2 1 1\n' >wanted
functions t-0 >found
claim "the Firefox Profiler shows own and total times" diff -u wanted found
claim "... of the second thread" same 'co 7 7' "$(functions t-1)"
cli thread samples-top-down --thread t-0 >found
claim "... and paths" grep -q 'f-2. g \[total: 20.0%, self: 12.0%\]' found
claim "... and threads" same '.main_1. .co_2.' \
    "$(cli profile info --all | sed -n 's/^ *t-[0-9]*: \([^ ]*\) .*/\1/p' | paste -sd ' ')"
cli stop test >/dev/null
cli_load hostile.firefox
claim "hostile names: all of the time" same 'main 0 13' "$(functions t-0 | grep '^main ')"
cli stop test >/dev/null
finish
