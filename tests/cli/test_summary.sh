#!/bin/sh
# test_summary.sh: the sentences about a run: their figures worked out by hand, and their commands, which show them.
. "$(dirname "$0")/lib.sh"

# summary WORDS...: its JSON in out.json, its texts in texts
summary() {
    qprof summary --format=json "$@" >out.json && jq -r '.findings[].text' out.json >texts
}
# proved: each command of out.json, as a shell reads it, prints the figure
proved() {
    jq -r '.findings[] | .figure, .command' out.json >pairs
    while IFS= read -r proved_figure && IFS= read -r proved_command; do
        sh -c "$proved_command" >proof 2>&1 && grep -qF -- "$proved_figure" proof ||
            { echo "no $proved_figure: $proved_command"; cat proof; return 1; }
    done <pairs
}
has() { grep -Eqx -- "$1" texts || { echo "no: $1"; cat texts; return 1; }; }
has_no() { ! grep -E -- "$1" texts; }

# ---- functions --------------------------------------------------------------------------------------

# main 10 us, f 70, g 20; h 0.5 us of 100.5 is below 1 %
record run.qprof 'main(' 10 'f(' 70 ')' 'g(' 20 ')' ')'
claim "a run" summary run.qprof
claim "the two functions with most time" same "70.0 % of the time is in \`f\` itself (score.src:11)
20.0 % of the time is in \`g\` itself (score.src:21)" "$(cat texts)"
claim "their weights" same '[70,20]' "$(jq -c '[.findings[].percent]' out.json)"
claim "their commands" same 'qprof report --filter=f run.qprof' "$(jq -r '.findings[0].command' out.json)"
claim "show the figures" proved
claim "as text" same "  70.0 % of the time is in \`f\` itself (score.src:11).
      qprof report --filter=f run.qprof" "$(qprof summary run.qprof | head -n 2)"
jq -r --slurpfile schema "$root/docs/schema/summary.json" -f "$here/schema.jq" out.json >problems
claim "fits its schema" same '' "$(cat problems)"
claim "csv" sh -c "qprof summary --format=csv run.qprof | grep -q '^70.00,70.0,.70.0 % of the time'"

record small.qprof 'main(' 1000 'f(' 9 ')' ')'
summary small.qprof
claim "nothing below 1 %" same "99.1 % of the time is in \`main\` itself (score.src:1)" "$(cat texts)"
QPROF='-output=none.qprof -time=none' ./score 'main(' 'f(' ')' ')'
claim "no times, no sentence" same '  No times were recorded; --since=FILE compares the calls with those of an earlier run.' "$(qprof summary none.qprof)"
# idle OPTIONS: the sentence of a run with these options that has nothing to say
idle() { rm -f idle.qprof && QPROF="-output=idle.qprof $1" ./score 'main(' 'f(' ')' ')' && qprof summary idle.qprof; }
claim "coverage alone" same '  Coverage alone was recorded: qprof cover summary shows it.' "$(idle '-collect=coverage')"

# ---- names and files --------------------------------------------------------------------------------

odd="it's a \$(touch x) \"name\"; here!"
record odd.qprof "$odd(" 10 ')'
mv odd.qprof 'odd file.qprof'
summary 'odd file.qprof'
claim "any name" same "100.0 % of the time is in \`$odd\` itself" "$(cat texts)"
claim "is quoted" proved
claim "and nothing is executed" test ! -e x
record control.qprof "$(printf 'a\033[1mb\n')(" 10 ')'
summary control.qprof
claim "a name that cannot be typed" same 'qprof report control.qprof' "$(jq -r '.findings[0].command' out.json)"
claim "has a command all the same" proved
claim "no control characters on the terminal" same 0 "$(qprof summary control.qprof | grep -c "$(printf '\033')")"
QPROF='-output=-d.qprof' ./score 'f(' 10 ')'
summary ./-d.qprof
claim "a file with a hyphen" same 'qprof report --filter=f ./-d.qprof' "$(jq -r '.findings[0].command' out.json)"
mv ./-d.qprof "$(printf 'u\377\033.qprof')"
summary "$(printf 'u\377\033.qprof')"
claim "a file that cannot be typed" same "qprof report --filter=f \$'u\\377\\033.qprof'" "$(jq -r '.findings[0].command' out.json)"
command -v bash >/dev/null &&
    claim "is read by bash" sh -c 'bash -c "$(jq -r ".findings[0].command" out.json)" | grep -q "^f .* 1 "'
claim "of a live profile" summary run.qprof

# ---- calls that were lost ---------------------------------------------------------------------------

QPROF='-output=lost.qprof -memory-limit=1M' ./score 'main(' 1 'f*100000(' ')*100000' 1 ')'
summary lost.qprof
lost=$(qprof report --format=json lost.qprof | jq .run.calls_lost)
claim "calls are lost" test "$lost" -gt 1000
claim "are counted" has "[0-9,]+ of 100,001 calls have no place in this profile: it was full, or they were too deep"
claim "as many" same "$lost" "$(jq -r '.findings[] | select(.text | test("calls have no place")) | .figure' out.json | tr -d ,)"
claim "and shown" proved

# ---- since an earlier run ---------------------------------------------------------------------------

# f is called 5 and 7 times, 10 us each; main takes 30 us
f='f( 10 )'
record before.qprof 'main(' 30 $f $f $f $f $f 'g(' ')' ')'
record after.qprof 'main(' 30 $f $f $f $f $f $f $f 'g(' ')' 'g(' ')' ')'
claim "since" summary --since=before.qprof after.qprof
claim "calls that grew" has "calls of \`f\` grew by 2 \(40.0 %\) since before.qprof, from 5 to 7"
claim "weigh what they took: 20 of 100 us" same 20 "$(jq '.findings[] | select(.text | test("grew")) | .percent' out.json)"
claim "are shown by diff" proved
summary --since=after.qprof before.qprof
claim "calls that fell" has "calls of \`f\` fell by 2 \(28.6 %\) since after.qprof, from 7 to 5"
claim "are shown" proved
# without times: of 12 and 57 calls, g 2 more, f 40 more (70.2 % of 57), k 3 more
timeless() { QPROF="-output=$1 -time=none" ./score 'main(' "f*$2(" ")*$2" "g*$3(" ")*$3" "k*$4(" ")*$4" ')'; }
timeless few.qprof 5 4 2
timeless many.qprof 45 6 5
claim "since, without times" summary --since=few.qprof many.qprof
claim "the function whose calls changed most" same 'calls of `f` grew by 40 (800.0 %) since few.qprof, from 5 to 45' "$(cat texts)"
claim "weighs as many of all calls" same 70.2 "$(jq '.findings[0].percent * 10 | round / 10' out.json)"
claim "is shown" proved
summary --since=many.qprof few.qprof
claim "calls that fell" same 'calls of `f` fell by 40 (88.9 %) since many.qprof, from 45 to 5' "$(cat texts)"
claim "weigh as much" same 70.2 "$(jq '.findings[0].percent * 10 | round / 10' out.json)"
claim "the same" same '  No times were recorded, and the calls of no function changed by 10 %.' "$(qprof summary --since=few.qprof few.qprof)"
summary --since=before.qprof before.qprof
claim "no change, no sentence" has_no since
claim "no such file" says 'nothing.qprof: no such file' qprof summary --since=nothing.qprof after.qprof

# ---- at the end of a run -----------------------------------------------------------------------------

mkdir runs && cd runs || exit 1
last() { qprof run -record-arguments=no "$@" 2>&1 >/dev/null | sed -n '/^Summary:/,$p'; }
claim "a first run" same "Summary:
  70.0 % of the time is in \`f\` itself (score.src:11).
      qprof report --filter=f one.qprof
  30.0 % of the time is in \`main\` itself (score.src:1).
      qprof report --filter=main one.qprof" "$(last -o one.qprof -- ../score 'main(' 30 $f $f $f $f $f $f $f ')')"
claim "a second one with more calls" same "  Calls of \`f\` grew by 3 (42.9 %) since one.qprof, from 7 to 10.
      qprof diff --filter=f one.qprof two.qprof" "$(last -o two.qprof -- ../score 'main(' 30 $f $f $f $f $f $f $f $f $f $f ')' | grep -A 1 Calls)"
claim "since another one" same "  Calls of \`f\` fell by 4 (40.0 %) since two.qprof, from 10 to 6." \
    "$(last --since=two.qprof -o three.qprof -- ../score 'main(' 30 $f $f $f $f $f $f ')' | grep Calls)"
claim "not since one with other arguments" same '' "$(qprof run -o four.qprof -- ../score 'main(' 30 $f ')' 2>&1 | grep since)"
cd .. || exit 1

# ---- memory and waiting: of Lua ----------------------------------------------------------------------

if command -v qlua >/dev/null; then
    cat >script.lua <<'END'
local function getb(n)
    local t = {}
    for i = 1, n do
        t[i] = {i}
    end
    return t
end
for k = 1, 100 do getb(5000) end
END
    echo 'os.execute("sleep 0.5")' >sleeps.lua
    qprof run -o sleeps.qprof -- qlua sleeps.lua 2>/dev/null
    summary sleeps.qprof
    claim "waiting" has '[0-9.]+ % was waiting, off the processor, (most of it|the largest part) in `.*`'
    qprof run --allocations=yes -o lua.qprof -- qlua script.lua 2>/dev/null
    summary lua.qprof
    claim "garbage collection, and whose bytes" \
        has '[0-9.]+ % is garbage collection; most bytes come from `getb`, line [34]: [0-9,]+'
    claim "all figures are shown" proved
    QPROF='-output=sampled.qprof -time=sampled' qlua script.lua
    summary sampled.qprof
    QPROF='-output=samples.qprof -collect=samples' qlua -e ''
    claim "samples alone" same '  Samples alone were recorded: qprof list shows them.' "$(qprof summary samples.qprof)"
    claim "estimates are shown as reports show them" proved
fi
finish
