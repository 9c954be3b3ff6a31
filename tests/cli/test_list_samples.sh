#!/bin/sh
# test_list_samples.sh: PC samples in `qprof list`, and what --when makes of every report. Methods of
# the score are in the module of their file, score.
. "$(dirname "$0")/lib.sh"

# main: 1 itself, 2 in f, 4 in g below f, 8 in native code below g; 16 outside, 32 in critical sections
play_it() {
    file=$1
    shift
    QPROF="-output=$file $*" ./score %16 'main(' 10 %1 'f(' 20 %2 'g(' 30 %4 '<(' %8 ')' crit %32 safe \
        ')' ')' 'g(' 40 ')' ')'
}
play_it run.qprof "-pc='REAL 3600000000'"

rows() {
    jq -r '[.rows[] | "\(.procedure // .module):\(.shallow)/\(.deep)"] | join(" ")'
}
sums() {
    jq -r '.summary | "\(.occurred) \(.counted) \(.skipped) \(.critical) \(.foreign)"'
}

# ---- the report ------------------------------------------------------------------------------------
# sampling 7, 9, 11, 35
claim "shallow and deep" same 'g:4/12 f:2/14 main:1/15' "$(qprof list --format=json run.qprof | rows)"
claim "the summary" same '63 63 0 32 24' "$(qprof list --format=json run.qprof | sums)"
claim "modules" same 'score:7/15' "$(qprof list --by=module --format=json run.qprof | rows)"
qprof list run.qprof >out
claim "two orders" same 'By shallow count By deep count' "$(grep ^By out | xargs)" # sampling 15
claim "percentages of what was counted" grep -Eq '^  score +g +4 +6.3 +12 +19.0$' out
claim "foreignPcs is a row without a deep count" same 2 "$(grep -Ec '^  foreignPcs +24 +38.1 *$' out)"
claim "foreignPcs comes first by shallow count" sh -c "sed -n 3p out | grep -q foreignPcs"
claim "the summary in words" grep -q \
    '^PC samples: 63 occurred, 63 counted, 0 skipped, 32 in critical sections, 24 foreign$' out
claim "the kind and the interval" grep -q '^REAL, every 3,600,000,000 us' out
claim "procedures without PC samples are omitted" same '' "$(grep -w unused out)" # sampling 14
for form in '' --by=module --when=score.g --samples '--samples --calls --counts'; do
    claim "list $form fits its schema" same '' "$(qprof list $form --format=json run.qprof 2>/dev/null >list.json;
        jq -r --slurpfile schema "$root/docs/schema/list.json" -f "$here/schema.jq" list.json)"
done
claim "modules can be left out" same '' "$(qprof list --no-module='s*' --format=json run.qprof | rows)"

# ---- patterns ----------------------------------------------------------------------------------------
when() { qprof list --when="$1" --format=json run.qprof; }
claim "a name is current" same 'f:2/2 main:0/2' "$(when score.f | rows)" # sampling 17
claim "what does not fit is skipped" same '63 34 29 32 0' "$(when score.f | sums)"
claim "whatever was called" same 'g:4/12 f:2/14 main:0/14' "$(when 'score.f->*' | rows)" # sampling 20
claim "a colon charges" same 'f:14/14 main:0/14' "$(when 'score.f:->*' | rows)"       # sampling 26
claim "and skips no more" same "$(when 'score.f->*' | sums | cut -d' ' -f1-3)" \
    "$(when 'score.f:->*' | sums | cut -d' ' -f1-3)" # sampling 31
claim "a caller" same 'main:14/14' "$(when ':score.f->*' | rows)"
claim "outermost callers are foreign" same '63 47 16 32 15' "$(when ':score.main->*' | sums)" # sampling 28
claim "in any case" same 'f:2/2 main:0/2' "$(when SCORE.F | rows)" # sampling 25
claim "a group" same 'g:4/4 f:0/4 main:0/4' "$(when '(score.main|score.f)->score.f->score.g' | rows)"
QPROF="-output=none.qprof -pc='REAL 3600000000'" ./score 'main(' 'x!(' %3 ')' ')' # x! has no file
claim "no module at all" same 'x!:3/3 main:0/3' "$(qprof list --when='""."x!"' --format=json none.qprof | rows)"
claim "and every procedure without one" same '3 3 0 0 0' "$(qprof list --when='""' --format=json none.qprof | sums)"
for command in list report tree; do
    claim "$command: an unknown name is reported" sh -c \
        "qprof $command --when='score.f->nosuch' run.qprof 2>&1 | grep -q 'no module or procedure nosuch'"
done
claim "names that are there are not" \
    sh -c "qprof list --when='score.f->*' run.qprof 2>&1 >/dev/null | grep -c 'no module' | grep -qx 0"
claim "html has views" qprof html --when='score.f->*' -o view.html run.qprof
says_at() { # PATTERN COLUMN COMMAND...: the message and the caret
    pattern=$1 column=$2
    shift 2
    ends 2 "$@" --when="$pattern" run.qprof || return 1
    grep -q -- "--when: column $column: " err || { cat err; return 1; }
    same "$column" "$(sed -n 3p err | sed 's/^  //' | tr -d '\n' | wc -c | tr -d ' ')"
}
for command in list report tree 'detail f' 'export --to=folded'; do
    claim "$command: a mistake has its column and a caret" says_at 'm.a->()' 7 qprof $command # sampling 33
done

# Recorded with a pattern: it holds until another one is asked for.
play_it own.qprof "-pc='REAL 3600000000 WHEN score.f:->*;'"
claim "the run's own pattern" same 'f:14/14 main:0/14' "$(qprof list --format=json own.qprof | rows)"
claim "is reported" grep -qF 'WHEN score.f:->*' <<END
$(qprof list own.qprof)
END
claim "another one replaces it" same 'g:4/12 f:2/14 main:1/15' \
    "$(qprof list --when='*' --format=json own.qprof | rows)"

# ---- sums, threads -----------------------------------------------------------------------------------
claim "several files add up" same 'g:8/24 f:4/28 main:2/30' \
    "$(qprof list --format=json run.qprof run.qprof | rows)" # sampling 37
cp run.qprof run2.qprof
qprof merge -o sum.qprof run.qprof run2.qprof >/dev/null
claim "a merged profile has all PC samples" same '126 126 0 64 48' "$(qprof list --format=json sum.qprof | sums)"
cp own.qprof own2.qprof
QPROF=-output=without.qprof ./score 'main(' ')'
qprof merge --force -o sum.qprof without.qprof own.qprof own2.qprof >/dev/null
claim "... and the pattern that says which count" same '126 92 34 64 0 score.f:->*' \
    "$(qprof list --format=json sum.qprof | sums) $(qprof list --format=json sum.qprof | jq -r .summary.pattern)"
claim "with another pattern it has no true sum" says \
    'own.qprof: its PC samples are of PC REAL 3600000000 WHEN score.f:->\*, but those before of PC REAL' \
    qprof merge -o no.qprof run.qprof own.qprof
claim "... but list adds up what counts in each" same '126 109 17 64 24' \
    "$(qprof list --format=json run.qprof own.qprof | sums)"
play_it virtual.qprof "-pc='VIRTUAL 3600000000'"
play_it often.qprof "-pc='REAL 1000000'"
for other in virtual often; do
    claim "$other: other PC samples do not mix" says \
        "$other.qprof: its PC samples are of PC [A-Z]* [0-9]*, but those before of PC REAL 3600000000" \
        qprof merge -o no.qprof run.qprof $other.qprof
    claim "... nor in a list" says \
        "$other.qprof: PC .* differs from PC .* of the profiles before; .* do not add up \(list them apart\)" \
        qprof list run.qprof $other.qprof
done
QPROF="-output=two.qprof -pc='REAL 3600000000'" ./score 'main(' %1 ')' thread 'f(' %2 ')'
claim "a thread" same 'f:2/2' "$(qprof list --thread=2 --format=json two.qprof | rows)"

# ---- one name for one thing ----------------------------------------------------------------------------
claim "calls are of the modules that PC samples are of" same 'score score' "$(qprof list --format=json \
    --calls run.qprof 2>/dev/null | jq -r .calls[0].module) $(qprof list --format=json run.qprof | jq -r .rows[0].module)"
claim "... by which they are chosen" same '3' "$(qprof list --format=json --calls --module=score run.qprof \
    2>/dev/null | jq '.calls | length')"
claim "... and hidden" same '' "$(qprof report --hide-module=score run.qprof 2>&1 | grep -E 'fits no|score.src')"
claim "a flag about PC samples is not ignored" says '--when chooses PC samples, which are not listed' \
    qprof list --calls --when=score run.qprof
claim "... nor where there are none" says 'no PC samples: it was recorded without a PC command' \
    qprof list --when=score without.qprof

# ---- uncounted calls ------------------------------------------------------------------------------------
printf 'events: Ir\nfl=a.c\nfn=main\n1 5\ncfn=f\ncalls=0 1\n1 2\nfn=f\n2 2\n' >uncounted.out
for form in '' --calls --not-executed; do
    claim "list $form does not take them for 0" says 'uncounted.out: the profile has no call counts' \
        qprof list $form uncounted.out
done
claim "nor does coverage" says 'uncounted.out: callgrind format counted neither calls nor lines' \
    qprof cover report uncounted.out
printf 'events: Ir\nfl=a.c\nfn=main\n1 5\ncfn=f\ncalls=3 1\n1 2\nfn=f\n2 2\n' >counted.out
qprof list --not-executed counted.out >out 2>/dev/null
claim "procedures with costs were executed" grep -q 'Every procedure was executed' out
claim "a profile without statements is accepted" grep -q 'The profile has no statements' out

# ---- views -------------------------------------------------------------------------------------------
flat() { qprof report --format=json "$@" run.qprof | jq -r '[.methods[] | "\(.name):\(.calls)/\(.self)/\(.total)"] | join(" ")'; }
claim "a view has the time of what fits" same 'main:0/0/50000 f:1/20000/50000 g:1/30000/30000' \
    "$(flat --when='score.f->*' | tr ' ' '\n' | sort -r | grep -v Native | xargs | awk '{print $1, $3, $2}')"
claim "a view charges it" same 'f:1/50000/50000' "$(flat --when='score.f:->*' | tr ' ' '\n' | grep ^f)"
claim "a view says so" \
    sh -c "qprof report --when='score.f->*' run.qprof | grep -q 'when  *score.f->\*: 50.000 us of 100.000 us (50.0 %)'"
claim "the tree keeps callers" same 'main f g' \
    "$(qprof tree --format=json --when='score.f->score.g' run.qprof |
        jq -r '. as $m | .nodes[] | select(.method > 0) | $m.methods[.method].name' | xargs)"
claim "an export is of the view" same 'main;f;g 30000' "$(qprof export --to=folded --when='score.g' run.qprof | grep ';f;')"

# ---- without a PC command -----------------------------------------------------------------------------
record plain.qprof 'main(' 5 ')'
claim "how to record samples is shown" sh -c "qprof list plain.qprof | grep -q 'qprof run --pc='"
claim "and when they are asked for" says 'plain.qprof: no PC samples: .*record some with: qprof run --pc=' \
    qprof list --samples plain.qprof

# ---- real and virtual ---------------------------------------------------------------------------------
# sampling 12: asleep in native code
QPROF="-output=real.qprof -pc='REAL 1000'" ./score 'main(' '<(' nap ')' ')'
QPROF="-output=cpu.qprof -pc='VIRTUAL 100000'" ./score 'main(' '<(' nap ')' ')'
claim "sleeping is foreign by the wall clock" test "$(qprof list --format=json real.qprof | jq .summary.foreign)" -gt 0
claim "and nothing by CPU time" same '0 0 0 0 0' "$(qprof list --format=json cpu.qprof | sums)"

# ---- the stack alone ----------------------------------------------------------------------------------
play_it stack.qprof "-collect=samples -pc='VIRTUAL 1000000000'"
claim "PC samples alone have times" same 'f:2000000000000' \
    "$(qprof report --format=json stack.qprof | jq -r '.methods[] | select(.name == "f") | "f:\(.self)"')"
claim "detail has no word of calls" sh -c "! qprof detail main stack.qprof | grep -qi calls"
claim "and no calls" sh -c "qprof report stack.qprof | grep -q 'no calls; user+kernel time by sampled estimate'"
claim "checks hold" qprof check stack.qprof
claim "calls cannot be listed" says 'stack.qprof: it has only PC samples, no calls' \
    qprof list --calls stack.qprof
claim "of lines it says why there are none" sh -c \
    "qprof annotate main stack.qprof | grep -q '^No figures of lines: it has only PC samples, '"
QPROF="-output=lineless.qprof -collect=samples -pc='REAL 3600000000'" ./score 'f!(' %1 ')'
claim "also where the host named none" \
    says 'no function that was called has lines: it has only PC samples, which are not of lines' \
    qprof annotate lineless.qprof
finish
