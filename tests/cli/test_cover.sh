#!/bin/sh
# test_cover.sh: what `qprof cover` says of a small score, whose figures are worked out here.
#
# main has the lines 1 to 3, f 11 to 13, g 21 to 23 of score.src; a line is one block.
#
#   line    1  2  3  11  12  13  21  22  23
#   count   1  1  0   3   5   0   0   0   0      4 of 9 lines (44.4 %), 2 of 3 functions (66.6 %)
. "$(dirname "$0")/lib.sh"

# cover FILE WORDS...: play a score, with coverage
cover() {
    cover_file=$1
    shift
    QPROF="-output=$cover_file -cover=hits" ./score "$@"
}

seq 30 | sed 's/^/text of /' >score.src
cover run.qprof '@first' 'main(' '#0*1' '#1*1' 'f(' '#0*2' ')' '@second' 'f(' '#0*1' '#1*5' ')' ')' 'g?'

# ---- report --------------------------------------------------------------------------------------
claim "report" ends 0 qprof cover report run.qprof
claim "the row of the file" grep -Eq '^score.src +2/3 +66.6 +4/9 +5 +44.4$' out
claim "the row of all" grep -Eq '^Total +2/3 +66.6 +4/9 +5 +44.4$' out
claim "rows of functions" ends 0 qprof cover report --functions run.qprof
claim "of f: its calls and lines" grep -Eq '^  f:11 +2 +1/1 +100.0 +2/3 +1 +66.6$' out
claim "of g: never called" grep -Eq '^  g:21 +0 +0/1 +0.0 +0/3 +3 +0.0$' out
claim "most missed first" same 'g:21 main:1 f:11' "$(qprof cover report --functions --sort=missed run.qprof |
    sed -n 's/^  \([a-z]*:[0-9]*\).*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
claim "what was missed" same '    3, 13-23' "$(qprof cover report --uncovered run.qprof | tail -1)"
claim "no other message" same '' "$(qprof cover report run.qprof 2>&1 >/dev/null)"
claim "by module" ends 0 qprof cover report --view=module run.qprof
claim "the file below it" grep -Eq '^  score.src +2/3' out
qprof cover report --format=json run.qprof >json
claim "json: lines" same '1:1 2:1 3:0 11:3 12:5 13:0 21:0 22:0 23:0' \
    "$(jq -r '[.files[0].lines[] | "\(.line):\(.hits)"] | join(" ")' json)"
claim "json: functions" same 'main:1:1 f:11:2 g:21:0' \
    "$(jq -r '[.files[0].functions[] | "\(.name):\(.line):\(.hits)"] | join(" ")' json)"
claim "csv: the total" same 'total,"","",0,3,2,1,3,66.66,4,5,9,44.44,0,0,0,0,100.00,0' \
    "$(qprof cover report --format=csv run.qprof | tr -d '\r' | grep ^total)"
claim "csv: a function" same 'function,"score.src","f",11,2,1,0,1,100.00,2,1,3,66.66,0,0,0,0,100.00,0' \
    "$(qprof cover report --functions --format=csv run.qprof | tr -d '\r' | grep '"f"')"
QPROF="-output=called.qprof -cover=hits -collection-granularity=function" ./score 'f(' ')' 'g?' 'h?'
claim "without lines, functions are missed" same 'Never called score.src g, h' \
    "$(qprof cover report --uncovered called.qprof 2>/dev/null | tail -3 | xargs)"
QPROF="-output=all.qprof -cover=hits -collection-granularity=function" ./score 'f(' ')'
claim "and no lines are mentioned" same 'Every function was called; lines were not counted.' \
    "$(qprof cover report --uncovered all.qprof 2>/dev/null | tail -1)"
# "other" was never called; its only line is also one of main, which was. So is "third", which has a missed line
printf 'fi\ta.c\t0\t1\t0\t1\t1\t2\nfu\tmain\t0\t1\t0\t1\t7\nbl\t10\t10\t5\nli\t10\t5\nefu\n' >one-line.pcx
printf 'fu\tother\t1\t1\t0\t1\t0\nbl\t10\t10\t0\nli\t10\t0\nefu\n' >>one-line.pcx
{ cat one-line.pcx; printf 'fu\tthird\t1\t1\t0\t1\t0\nbl\t20\t20\t0\nli\t20\t0\nefu\nefi\n'; } >two-lines.pcx
echo efi >>one-line.pcx
claim "a function is missed, though none of its lines is" same 'Never called a.c other' \
    "$(qprof cover report -u one-line.pcx 2>/dev/null | tail -3 | xargs)"
claim "one with a missed line is missed by that" same 'a.c 20 Never called a.c other' \
    "$(qprof cover report -u two-lines.pcx 2>/dev/null | tail -6 | xargs)"
cover strange.qprof 'f(' '#7*1' '#9*1' ')'
claim "mistakes of the host are named" same \
    'qprof cover report: strange.qprof: bb_out_of_range 2; qprof info explains' \
    "$(qprof cover report strange.qprof 2>&1 >/dev/null)"
claim "a root that is not here" ends 0 qprof cover report --root=/nowhere run.qprof
claim "is remarked" grep -q -- '--root=/nowhere: no such folder here' err

# ---- limits --------------------------------------------------------------------------------------
claim "a limit that is reached" ends 0 qprof cover report --fail-under=44.4 --fail-under-functions=66 run.qprof
claim "one that is not" ends 1 qprof cover report --fail-under=45 run.qprof
claim "by how much" same 'qprof cover report: --fail-under: 44.44 % of 9 lines were hit, 0.56 below 45' "$(cat err)"
claim "functions" ends 1 qprof cover report --fail-under-functions=70 run.qprof
claim "by how much" grep -q 'functions: 66.66 % of 3 functions were hit, 3.34 below 70' err
claim "nothing is never enough" ends 1 qprof cover report --fail-under=0 --include=nowhere run.qprof
claim "and it is reported" grep -q 'no lines were counted' err
claim "a limit that is none" says 'fail-under=120: expected a number from 0 to 100' qprof cover report --fail-under=120 run.qprof

# ---- choosing files ------------------------------------------------------------------------------
claim "files that are left out" ends 0 qprof cover report --exclude='*.lua:*.src' run.qprof
claim "is remarked" grep -q -- '--root, --include and --exclude leave no file' err
claim "included ones" same 2/3 "$(qprof cover report --include='*.lua' --include='*.src' run.qprof | awk '/^Total/ { print $2 }')"

# ---- contexts ------------------------------------------------------------------------------------
# first: lines 1, 2 and 11; second: 11 and 12
claim "contexts" ends 0 qprof cover context run.qprof
claim "of the first" grep -Eq '^first +3 +33.3 +2$' out
claim "of the second" grep -Eq '^second +2 +22.2 +1$' out
claim "who hit line 11" same '2 first 1 second' \
    "$(qprof cover context score.src:11 run.qprof | awk 'NR > 2 { print $1, $2 }' | tr '\n' ' ' | sed 's/ $//')"
claim "a line that no context hit" same 'score.src:13: never executed' "$(qprof cover context score.src:13 run.qprof)"
claim "what the second alone hits" same '    12' "$(qprof cover context --only=second run.qprof | tail -1)"
claim "as json" same '12-12' "$(qprof cover context --only=second --format=json run.qprof |
    jq -r '.files[].ranges[] | "\(.first)-\(.last)"')"
claim "json of a line" same 'first=2 second=1' "$(qprof cover context score.src:11 --format=json run.qprof |
    jq -r '[.contexts[] | "\(.name)=\(.hits)"] | join(" ")')"
claim "only what the second hit" same '2/9' "$(qprof cover report --context='sec*' run.qprof | awk '/^Total/ { print $4 }')"
cover colon.qprof '@a:b' 'f(' '#0*1' ')'
claim "a name may have colons" same '1/3' "$(qprof cover report --context='a:b' colon.qprof | awk '/^Total/ { print $4 }')"
claim "a line without code" says 'line 4 of score.src has no code' qprof cover context score.src:4 run.qprof
claim "a context that is none" says 'no context third' qprof cover context --only=third run.qprof

# ---- several profiles ----------------------------------------------------------------------------
cover more.qprof 'main(' '#0*1' 'f(' '#0*4' '#2*1' ')' ')' 'g('  '#0*1' ')'
claim "the sum of two" same '3/3 6/9' "$(qprof cover report run.qprof more.qprof | awk '/^Total/ { print $2, $4 }')"
claim "counts add up" same 7 "$(qprof cover report --format=json run.qprof more.qprof |
    jq '.files[0].lines[] | select(.line == 11) | .hits')"
claim "the newest profile is taken" sh -c 'qprof cover report | head -1 | grep -q more.qprof'
cover other.qprof 'f(' '#0*1' ')' 'main(' ')'
QPROF="-output=plain.qprof" ./score "main(" "#0*1" ")"
claim "one that knows less is named" \
    sh -c 'qprof cover report run.qprof plain.qprof 2>&1 >/dev/null | grep -q "1 of 2 profiles were recorded without -collect=coverage"'
claim "versions that differ are refused" ends 2 qprof cover report run.qprof other.qprof
claim "both are named, and the way out" grep -Eq 'run.qprof.*other.qprof.*--force-merge|other.qprof.*run.qprof.*--force-merge' err
claim "unless one insists" ends 0 qprof cover report --force-merge run.qprof other.qprof

# ---- summary, list -------------------------------------------------------------------------------
claim "summary" ends 0 qprof cover summary run.qprof
claim "calls, class, functions" grep -Eq '^Total +3 +< 10 +3 +2 +1 +66.6$' out
claim "calls" same 'f:2 main:1' "$(qprof list --calls --format=json run.qprof |
    jq -r '[.calls[] | "\(.procedure):\(.calls)"] | join(" ")')"
claim "statements of procedures" same 'f:3/2/8 main:3/2/2 g:3/0/0' "$(qprof list --counts --format=json run.qprof |
    jq -r '[.counts[] | "\(.procedure):\(.statements)/\(.executed)/\(.executions)"] | join(" ")')"
claim "statements" same '12:5 11:3' "$(qprof list --counts --by=statement --format=json run.qprof |
    jq -r '[.counts[:2][] | "\(.line):\(.executions)"] | join(" ")')"
claim "modules" same '9/4/10' "$(qprof list --counts --by=module --format=json run.qprof |
    jq -r '.counts[] | "\(.statements)/\(.executed)/\(.executions)"')"
claim "procedures not executed" same g "$(qprof list --not-executed --format=json run.qprof |
    jq -r '.procedures_not_executed[].procedure')"
claim "statements not executed" same '13 21 22 23 3' "$(qprof list --not-executed --format=json run.qprof |
    jq -r '[.statements_not_executed[].line | tostring] | join(" ")')"
claim "as text" sh -c 'qprof list run.qprof | grep -Eq "^  [a-z]+ +g +score.src:21$"'
QPROF="-output=live.qprof -cover=hits" ./score "main(" "#0*1" ")" wait &
live=$!
for try in $(seq 300); do # for a minute
    sleep 0.2
    qprof cover summary $live >out 2>err && break
done
claim "a program that is running" grep -Eq '^Total +[0-9]+' out
claim "it is reported" grep -q 'still running' err
kill -9 $live
claim "a profile without coverage" \
    sh -c 'QPROF="-output=plain.qprof" ./score "main(" "#0*1" ")"; qprof cover report plain.qprof 2>&1 >/dev/null |
    grep -q "recorded without -collect=coverage: functions that were never called are missing"'

# ---- annotate ------------------------------------------------------------------------------------
mv score.src away
claim "without a source" ends 0 qprof cover annotate score.src run.qprof
claim "the counts are there" same '1 1 0 3 5 0 0 0 0' "$(awk '/^[|#] / { print $2 }' out | tr '\n' ' ' | sed 's/ $//')"
claim "and it is reported" grep -q 'score.src: no such file; lines are listed without text' err
mv away score.src
claim "with a source" ends 0 qprof cover annotate run.qprof
claim "hit" grep -Eq '^\| +5 +12  text of 12$' out
claim "missed" grep -Eq '^# +0 +13  text of 13$' out
claim "no code" grep -Eq '^ +14  text of 14$' out
claim "about a function" grep -Eq '^\* +g: never called, 0 of 3 lines hit \(0.0 %\)$' out
claim "contexts" sh -c 'qprof cover annotate --contexts run.qprof | grep -q "by first 2, second 1$"'
qprof cover annotate --only-missed run.qprof >out
claim "only what was missed, and two lines around it" same '1 2 3 4 5 ... 11 12 13 14 15 ... 19 20 21 22 23 24 25' \
    "$(sed -nE 's/^.* (\.\.\.|[0-9]+)(  text.*)?$/\1/p' out | grep -v % | tr '\n' ' ' | sed 's/ $//')"
claim "in colours" sh -c "qprof cover annotate --color=always run.qprof | grep -q '\[94m.*text of 12'"
claim "a source that is not in it" says 'no source nowhere.lua' qprof cover annotate nowhere.lua run.qprof

cover far.qprof 'f^(' '#2*1' ')'
claim "a line far after the end of the source" same '2147483647' "$(qprof cover annotate far.qprof | awk 'END { print $3 }')"
claim "for luacov it is not there" same '2:score.src 0 0  ' "$(qprof cover export --to=luacov far.qprof | tr '\n' ' ')"
QPROF="-output=both.qprof" ./score 'f^(' '#2*5' ')' 'g^(' '#2*2' ')'
count_of_both() { qprof cover annotate "$@" both.qprof 2>/dev/null | awk '$3 == 2147483647 { print $2 }'; }
claim "a line of two blocks has the larger count, or the sum of both" same "5 7" "$(count_of_both) $(count_of_both --sum)"

# ---- check ---------------------------------------------------------------------------------------
printf '# what we want\nlines 44\n\nfunctions 60%% # nearly\nfile *.src lines 40\n' >coverage.thresholds
claim "thresholds that are reached" ends 0 qprof cover check run.qprof
claim "are shown" grep -Eq '^lines +all files together +1 +44.4 +44 +ok$' out
printf 'lines 50\nfile "score.src" functions 70\nfile *.lua lines 90\n' >wanted
claim "thresholds that are not" ends 1 qprof cover check --thresholds=wanted run.qprof
claim "the first" grep -q '^qprof cover check: 44.44 % of 9 lines were hit, 5.56 below 50$' err
claim "the second" grep -q '^qprof cover check: score.src: 66.66 % of 3 functions were hit, 3.34 below 70$' err
claim "one about no file" grep -q 'wanted:3: no file with lines matches \*.lua' err
printf 'functions 1\nfile none*.lua lines 5\n' >typo
claim "a glob with a slip fails" ends 1 qprof cover check --thresholds=typo run.qprof
printf 'file none*.lua lines 5\n' >typo
claim "where nothing is checked, nothing is known" ends 2 qprof cover check --thresholds=typo run.qprof
claim "as json" \
    same 'false [false,false,false] ["score.src"]' "$(qprof cover check --format=json --thresholds=wanted run.qprof 2>/dev/null |
    jq -c -r '"\(.passed) \([.thresholds[].passed]) \(.thresholds[1].failed)"')"
claim "for GitHub" ends 1 qprof cover check --annotations=github --thresholds=wanted run.qprof
claim "a line" grep -qx '::warning file=score.src,line=3,endLine=3,title=Coverage::line 3 was never executed' out
claim "a range" grep -qx '::warning file=score.src,line=13,endLine=23,title=Coverage::lines 13 to 23 were never executed' out
claim "for GitLab" same 'score.src:3-3 score.src:13-23' "$(qprof cover check --annotations=gitlab run.qprof |
    jq -r '[.[] | "\(.location.path):\(.location.lines.begin)-\(.location.lines.end)"] | join(" ")')"
claim "with different fingerprints" \
    same 2 "$(qprof cover check --annotations=gitlab run.qprof | jq '[.[].fingerprint] | unique | length')"
claim "plain" same 'score.src:3: line 3 was never executed' "$(qprof cover check --annotations=plain run.qprof | head -1)"
for bad in 'lines' 'lines many' 'lines 101' 'lines -1' 'lines 80 now' 'pages 80' \
    'file' 'file x' 'file x pages 3' 'file "x lines 3'; do
    printf '# bad\n%s\n' "$bad" >wanted
    claim "a bad threshold: $bad" says 'wanted:2:[0-9]+: expected' qprof cover check --thresholds=wanted run.qprof
done
printf 'lines 80\n  branches x\nlines\n' >wanted
claim "all bad lines are named" ends 2 qprof cover check --thresholds=wanted run.qprof
claim "with line and column" same 'wanted:2:12: wanted:3:6: ' "$(grep -o 'wanted:[0-9:]* ' err | tr -d '\n')"
: >wanted
claim "none at all" says 'no threshold' qprof cover check --thresholds=wanted run.qprof
claim "no file" says 'nowhere: no such file' qprof cover check --thresholds=nowhere run.qprof

# ---- export --------------------------------------------------------------------------------------
claim "to the screen" sh -c 'qprof cover export --to=lcov run.qprof | grep -qx "DA:12,5"'
claim "to a file" ends 0 qprof cover export --to=json -o new.json run.qprof
claim "which is the report's json" sh -c 'qprof cover report --format=json run.qprof | cmp - new.json'
claim "no format" says 'missing --to=' qprof cover export run.qprof
claim "one with a slip" says '--to=cobertuar: no such format .similar: --to=cobertura' qprof cover export --to=cobertuar run.qprof
claim "a folder that is none" says 'no/where.info: ' qprof cover export --to=lcov -o no/where.info run.qprof
claim "a failed one leaves no file" \
    sh -c '! qprof cover export --to=lcov -o left.info missing.qprof 2>/dev/null && ! test -e left.info'
for flag in --lcov2 --test-name=x --relative; do
    claim "$flag is lcov's" says "${flag%=*} applies to --to=lcov" \
        qprof cover export --to=cobertura $flag run.qprof
done
claim "--gcovr7 is gcovr's" says '--gcovr7 applies to --to=gcovr, not to lcov' qprof cover export --to=lcov --gcovr7 run.qprof
claim "annotations and JSON are two forms" says '--annotations and --format' \
    qprof cover check --annotations=github --format=json run.qprof
# ---- the shape of JSON ---------------------------------------------------------------------------
# fits SCHEMA COMMAND...
fits() {
    schema=$1
    shift
    "$@" >shape.json 2>/dev/null
    same '' "$(jq -r --slurpfile schema "$root/docs/schema/$schema.json" -f "$here/schema.jq" shape.json 2>&1 | head -5)"
}
cover third.qprof '@a' 'main(' '#0*1' 'h(' ')' ')'
claim "summary fits its schema" fits cover-summary qprof cover summary --format=json run.qprof
claim "check fits its schema" fits cover-check qprof cover check --format=json run.qprof
claim "context fits its schema" fits cover-context qprof cover context --format=json run.qprof
claim "of a line" fits cover-context qprof cover context score.src:11 --format=json run.qprof
claim "of one context" fits cover-context qprof cover context --only=first --format=json run.qprof
claim "diff fits its schema" fits cover-diff qprof cover diff --format=json run.qprof third.qprof
printf -- '--- a/score.src\n+++ b/score.src\n@@ -2 +2 @@\n-x\n+text of 2\n' >one.patch
claim "changed lines fit their schema" fits cover-changes qprof cover diff --patch=one.patch --format=json run.qprof
for by in procedure module statement; do
    claim "list by $by fits its schema" fits list qprof list --by=$by --format=json run.qprof
done

# f: three calls, the second one not recorded; two blocks on its first line
QPROF="-output=skips.qprof -collect=profile,coverage" ./score 'f(' '#0*5' ')' stop 'f(' '#0*9' ')' start 'f(' '#0*1' ')'
claim "calls while recording was off are skips, by function, file and folder" same "2 1 2 1 2 1" \
    "$(qprof cover report --format=json skips.qprof | jq -r '[.files[].functions[].totals, .files[].totals, .totals |
        .calls, .skips] | map(tostring) | join(" ")')"
claim "... as text" grep -Eq '^score.src +2 +1 ' <<END
$(qprof cover report --show-skips skips.qprof)
END
qprof cover merge -o skips2.qprof skips.qprof skips.qprof >/dev/null
claim "... and merged" same 2 "$(qprof cover report --format=json skips2.qprof | jq .totals.skips)"
finish
