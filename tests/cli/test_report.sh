#!/bin/sh
# test_report.sh: what report, tree, detail, annotate, info and check show of runs whose figures
# were worked out by hand.
. "$(dirname "$0")/lib.sh"

# ---- the reference run of the interpreter interface, in microseconds --------------------------
# self: main 10+2+5=17, fun_one 5+5=10, fun_three 10, fun_two 8; total: main 45, fun_one 20
record ref.qprof 'main(' 10 'fun_one(' 5 'fun_three(' 10 ')' 5 ')' 2 'fun_two(' 8 ')' 5 ')'

figures() { qprof report --format=json "$1" |
    jq -c "[.methods[] | select(.name == \"$2\") | .calls, .self, .total, .min, .max, .average]"; }
claim "main: 17 us of 45" same '[[1,17000,45000,17000,17000,17000]]' "[$(figures ref.qprof main)]"
claim "fun_one: 10 us of 20" same '[1,10000,20000,10000,10000,10000]' "$(figures ref.qprof fun_one)"
claim "fun_three" same '[1,10000,10000,10000,10000,10000]' "$(figures ref.qprof fun_three)"
claim "fun_two" same '[1,8000,8000,8000,8000,8000]' "$(figures ref.qprof fun_two)"
claim "the run's total is the sum of self" same 45000 \
    "$(qprof report --format=json ref.qprof | jq .run.total)"
claim "functions come by self time" same 'main,fun_one,fun_three,fun_two' \
    "$(qprof report --format=json ref.qprof | jq -r '[.methods[].name] | join(",")')"
claim "or by name" same 'fun_one,fun_three,fun_two,main' \
    "$(qprof report --sort=name --format=json ref.qprof | jq -r '[.methods[].name] | join(",")')"
claim "a limit of two" same 2 "$(qprof report --limit=2 --format=json ref.qprof | jq '.methods | length')"
claim "a filter" same '["fun_two"]' \
    "$(qprof report --filter=two --format=json ref.qprof | jq -c '[.methods[].name]')"
# 17/45 = 37.8 %
claim "percentages" same 'main 1 17.000 37.8 45.000 100.0' \
    "$(qprof report --unit=us ref.qprof | awk '$1 == "main" { print $1, $2, $3, $4, $5, $6 }')"
claim "one unit for a column" same '45,000' \
    "$(qprof report --unit=ns ref.qprof | awk '$1 == "main" { print $5 }')"
qprof report ref.qprof > table.txt
claim "the table has no colours" same 0 "$(grep -c "$(printf '\033')" table.txt)"
claim "and no blanks at the ends of lines" same 0 "$(grep -c ' $' table.txt)"
claim "csv is one row a function" \
    same '"fun_two","","score","score.src",31,1,1,0,8000,8000,8000,8000,8000,0,0,Line,no,8000,17.78,17.78,0' \
    "$(qprof report --format=csv ref.qprof | tr -d '\r' | grep fun_two)"
qprof report --format=csv ref.qprof > all.csv
claim "the newest profile is the default" same "$(cat all.csv)" "$(qprof report --format=csv)"
QPROF='-output=unit.qprof -time-unit=ns' ./score 'main(' 45 ')'
QPROF='-output=cycles.qprof -time-unit=cycles' ./score 'main(' 45 ')'
claim "cycles are those of 1 GHz" same 'Self cycles 45,000' \
    "$(qprof report cycles.qprof | awk '/^Function/ { head = $3 " " $4 } $1 == "main" { print head, $3 }')"
claim "also the times of single calls" same 'Avg cycles Min cycles Max cycles 22,500 15,000 30,000' \
    "$(QPROF='-output=calls.qprof -time-unit=cycles' ./score 'f(' 15 ')' 'f(' 30 ')' &&
        qprof report calls.qprof | awk '/^Function/ { print $11, $12, $13, $14, $15, $16 } $1 == "f" { print $7, $8, $9 }' | xargs)"
claim "the run's own unit" same 'Self ns' \
    "$(qprof report unit.qprof | awk '/^Function/ { print $3, $4 }')"
claim "a flag is stronger" same 'Self s' \
    "$(qprof report --unit=s unit.qprof | awk '/^Function/ { print $3, $4 }')"

claim "module and type of measurement" same 'score Line' \
    "$(qprof report --long ref.qprof | awk '$1 == "main" { print $(NF-1), $NF }')"

# ---- focus, hidden functions ----------------------------------------------------------------------
# of 45: fun_one 20 with fun_three 10; hidden, its 10 are fun_one's, which is 20 then
claim "a focus is 100 %" same '20000 fun_one 10000 20000, fun_three 10000 10000' \
    "$(qprof report --focus=fun_one --format=json ref.qprof | jq -r \
        '"\(.run.total) " + ([.methods[] | "\(.name) \(.self) \(.total)"] | join(", "))')"
claim "percentages are of it" same 'fun_three 50.0 50.0' \
    "$(qprof report --unit=us --focus=fun_one ref.qprof | awk '$1 == "fun_three" { print $1, $4, $6 }')"
claim "20 of 45 are 44.4 %" sh -c \
    "qprof report --focus=fun_one ref.qprof | grep -q 'focus  *fun_one and what it called: 20.000 us of 45.000 us (44.4 %)'"
claim "a hidden function's time is its caller's" same '[["main",17000,false],["fun_one",20000,true],["fun_two",8000,false]]' \
    "$(qprof report --hide='fun_th*' --format=json ref.qprof | jq -c \
        '[.methods | sort_by(-.total)[] | [.name, .self, .includes_hidden]]')"
claim "that is marked" same 'fun_one + 1 20.000' \
    "$(qprof report --unit=us --hide=fun_three ref.qprof | awk '$1 == "fun_one" { print $1, $2, $3, $4 }')"
claim "and reported" sh -c "qprof report --hide=fun_three ref.qprof | grep -q 'hidden  *1 function, collapsed into callers'"
claim "there is no minimum of it" same '[null,null]' \
    "$(qprof report --hide=fun_three --format=json ref.qprof | jq -c '.methods[] | select(.name == "fun_one") | [.min, .max]')"
claim "time whose callers are all hidden belongs to no function" sh -c \
    "qprof report --hide=main ref.qprof | grep -q 'hidden .*; 17.000 us have none that is shown'"
claim "a module can be hidden" same 0 "$(qprof report --hide-module=score --format=json ref.qprof | jq '.methods | length')"
claim "if everything is hidden it is reported" sh -c \
    "qprof report --hide='*' ref.qprof | grep -q '^All functions that were called are hidden.$'"
claim "or a file" same 0 "$(qprof report --hide-module='*.src' --format=json ref.qprof | jq '.methods | length')"
claim "callees of what is hidden are its caller's" same 'main fun_three' \
    "$(qprof tree --hide=fun_one --hide=fun_two ref.qprof | awk '/score.src/ { print $(NF-1) }' | tr '\n' ' ' | sed 's/ $//')"
claim "also in details" same '[["main",10000]]' \
    "$(qprof detail fun_three --hide=fun_one --format=json ref.qprof | jq -c '[.callers[] | [.name, .time]]')"
claim "a name with a colon is one name" same 4 \
    "$(qprof report --hide=a:fun_one --format=json ref.qprof 2>err | jq '.methods | length')"
claim "a glob that fits nothing is remarked" grep -q 'hide=a:fun_one matches no function' err
claim "a focus that is none" says 'no function nowhere' qprof report --focus=nowhere ref.qprof

# ---- the tree -----------------------------------------------------------------------------------
claim "paths, parents and times" same \
    '[["main",1,17000,45000],["fun_one",1,10000,20000],["fun_three",1,10000,10000],["fun_two",1,8000,8000]]' \
    "$(qprof tree --format=json ref.qprof | jq -c \
        '. as $t | [.nodes[] | select(.method > 0) | [($t.methods[.method].name), .calls, .self, .total]]')"
claim "fun_three is below fun_one" same fun_one "$(qprof tree --format=json ref.qprof | jq -r \
    '. as $t | .nodes as $n | ($n[] | select($t.methods[.method].name == "fun_three") | .parent) as $p
     | $n[] | select(.id == $p) | $t.methods[.method].name')"
qprof tree ref.qprof > tree.txt
claim "the tree is drawn" grep -Fq '|- fun_one' tree.txt
claim "the last branch is drawn" grep -Fq '`- fun_two' tree.txt
claim "the hottest path leads through fun_one" same 'main fun_one' \
    "$(qprof tree --hottest ref.qprof | awk '/score.src/ { print $(NF-1) }' | head -2 | tr '\n' ' ' | sed 's/ $//')"
claim "a threshold of 40 % leaves main and fun_one" same 2 \
    "$(qprof tree --min-percent=40 ref.qprof | grep -c score.src)"

# ---- recursion: A 32, B 17, C 23, A 32, D 14 -----------------------------------------------------
record rec.qprof 'A(' 32 'B(' 17 'C(' 23 'A(' 32 'D(' 14 ')' ')' ')' ')' ')'
claim "A: 64 and 118" same '[2,64000,118000,32000,32000,32000]' "$(figures rec.qprof A)"
claim "B: 17 and 86" same '[1,17000,86000,17000,17000,17000]' "$(figures rec.qprof B)"
claim "C: 23 and 69" same '[1,23000,69000,23000,23000,23000]' "$(figures rec.qprof C)"
# what B cost A without A's self time inside: 86 - 32 = 54, 45.8 % of 118; D 14, 11.9 %
claim "callees of a recursive function" same '[["B",54000,true],["D",14000,false]]' \
    "$(qprof detail A rec.qprof --format=json | jq -c '[.callees[] | [.name, .time, .recursive]]')"
qprof detail A rec.qprof > detail.txt
claim "B is marked, with 45.8 %" same 'B * 1 54.000 45.8' \
    "$(qprof detail --unit=us A rec.qprof | awk '$1 == "B" { print $1, $2, $3, $4, $5 }')"
claim "callers add up to the total" same 118000 \
    "$(qprof detail rec.qprof A --format=json | jq '[.callers[].time] | add')"
# of all rows: self 64 of 118; total 118 of 118 + 86 + 69 + 14 = 287: triggers 39
claim "percentages of the run" same 'A 54.2 100.0 B 14.4 72.9 C 19.5 58.5 D 11.9 11.9' \
    "$(qprof report --sort=name rec.qprof | awk '/score.src/ { print $1, $4, $6 }' | tr '\n' ' ' | sed 's/ $//')"
claim "percentages of all rows" same 'A 54.2 41.1 B 14.4 30.0 C 19.5 24.0 D 11.9 4.9' \
    "$(qprof report --sort=name --percent=rows rec.qprof | awk '/score.src/ { print $1, $4, $6 }' | tr '\n' ' ' | sed 's/ $//')"
sums() { qprof report --format=json "$@" |
    jq -c '[[.methods[].self_percent], [.methods[].total_percent]] | map(add | round)'; }
claim "of the run, those with callees are more than 100" same '[100,243]' "$(sums rec.qprof)"
claim "of all rows they are 100" same '[100,100]' "$(sums --percent=rows rec.qprof)"
claim "those of a limit are the same" same 41.1 "$(qprof report --percent=rows -n 1 rec.qprof | awk '$1 == "A" { print $6 }')"
QPROF='-output=rows.qprof -percent-real-values=no -show-non-hit' ./score \
    'A(' 32 'B(' 17 ')' stop 'D(' ')' start ')'
claim "the run says so" same '[100,100]' "$(sums rows.qprof)"
claim "a flag is stronger" same '[100,135]' "$(sums --percent=run rows.qprof)"
claim "functions without hits are shown" same '[0,1]' "$(qprof report --format=json rows.qprof |
    jq -c '.methods[] | select(.name == "D") | [.hits, .skips]')"
claim "hits and skips are the calls" same true "$(qprof report --format=json rows.qprof |
    jq '[.methods[] | .calls == .hits + .skips] | all')"

# ---- triggers 40: four deep, 2 s each --------------------------------------------------------------
record four.qprof 'A(' 2000000 'A(' 2000000 'A(' 2000000 'A(' 2000000 ')' ')' ')' ')'
claim "8 s, and 8 s with children" same '[4,8000000000,8000000000,2000000000,2000000000,2000000000]' \
    "$(figures four.qprof A)"
claim "the average with children is of calls" same '2.000 s 2.000 s' \
    "$(qprof report --long --unit=s four.qprof | awk '$1 == "A" { print $7, $8, $9, $10 }')"
claim "a function at a line" same C "$(qprof detail score.src:22 rec.qprof --format=json | jq -r .method.name)"

# ---- stack suffixes: triggers 50 -----------------------------------------------------------------------
# Recorded calls of f: from a twice, from b in a once, from b twice, from f in b once, from main once.
set -- 'main(' 'a(' 'b(' 'f(' 5 ')' ')' 'f(' ')' 'f(' ')' ')' 'b(' 'f(' ')' 'f(' 'f(' ')' ')' ')' \
    'f(' stop 'f(' ')' start ')' ')'
QPROF='-output=routes.qprof -max-route-depth=3' ./score "$@"
record plain.qprof "$@"
routes() { qprof detail f --format=json "$@" |
    jq -c '[.stack_suffixes[] | [.hits, ([.calls[] | "\(.number) \(.name)"] | join(" ")) + if .cut then "..." else "" end]]'; }
claim "there are none without a depth" same '[]' "$(routes plain.qprof)"
claim "and no word of them" same 0 "$(qprof detail f plain.qprof | grep -ci suffix)"
three='[[2,"0 f 1 a 2 main"],[2,"0 f 1 b 2 main"],[1,"0 f 1 b 2 a..."],[1,"0 f 1 f 2 b..."],[1,"0 f 1 main"]]'
claim "call 0 is the function, 1 its caller" same "$three" "$(routes plain.qprof --routes=3)"
claim "the run says how deep" same "$three" "$(routes routes.qprof)"
claim "a flag is stronger" same '[[7,"0 f..."]]' "$(routes routes.qprof --routes=1)"
claim "or none" same '[]' "$(routes routes.qprof --routes=0)"
claim "what is not cut is whole" same \
    '[[2,"0 f 1 a 2 main"],[2,"0 f 1 b 2 main"],[1,"0 f 1 b 2 a 3 main"],[1,"0 f 1 f 2 b 3 main"],[1,"0 f 1 main"]]' \
    "$(routes routes.qprof --routes=100)"
claim "hidden functions are not calls" same '[[3,"0 f 1 a 2 main"],[3,"0 f 1 main"],[1,"0 f 1 f 2 main"]]' \
    "$(routes routes.qprof --hide=b)"
claim "text: number, hits of 7, frames" same '1 2 28.6 0 f score.src:31 1 a score.src:11 2 main score.src:1' \
    "$(qprof detail f routes.qprof | grep -A3 '^Suffix No' | tail -3 | tr '\n' ' ' | tr -s ' ' | sed 's/^ //;s/ $//')"
claim "routes as text" ends 0 qprof detail f routes.qprof
claim "those that are cut end in dots" same 2 "$(grep -c '^ .*\.\.\.  ' out)"
claim "and it is explained" grep -q '^\.\.\. more callers: stack suffixes are cut at 3 frames$' out
claim "two of five" ends 0 qprof detail f -n 2 routes.qprof
claim "the others are counted: 3 hits of 7" grep -q '^and 3 more with 42.9 % of the hits; --limit=0 shows all$' out
claim "also for programs" same 3 "$(qprof detail f -n 2 --format=json routes.qprof | jq .stack_suffixes_left_out)"
qprof detail f --format=csv routes.qprof | tr -d '\r' > routes.csv
claim "a row of CSV for each call of a route" same '"f",31,2,1,0 "a",11,2,1,1 "main",1,2,1,2 "f",31,2,2,0' \
    "$(awk -F, '/^stack_suffix,/ { print $2 "," $4 "," $5 "," $8 "," $9 }' routes.csv | head -4 | tr '\n' ' ' | sed 's/ $//')"
claim "rows of CSV have equally many fields" same 9 "$(awk -F, '{ print NF }' routes.csv | sort -u)"
claim "a method that was never called" same 'Stack suffixes: none; no call was recorded' \
    "$(record never.qprof 'g(' 'h?' ')' && qprof detail h --routes=3 never.qprof | tail -1)"
QPROF='-output=cover.qprof -collect=coverage' ./score 'f(' ')'
claim "coverage alone has no call paths" same 'Stack suffixes: unknown; the profile has no calls with their paths' \
    "$(qprof detail f --routes=3 cover.qprof | tail -1)"
QPROF='-output=far.qprof -max-route-depth=200' ./score 'f*150(' ')*150'
claim "a run's depth ends at 100 frames" same 100 "$(qprof detail f --format=json far.qprof | jq .stack_suffix_depth)"
claim "a route of 101 frames" says '--routes=101: at most 100 frames' qprof detail f --routes=101 routes.qprof
record odd.qprof "$(printf 'a\033[31mred\nline(')" 'f(' ')' ')'
for form in text json csv; do
    qprof detail f --routes=2 --format=$form odd.qprof > odd.txt
    claim "no control character gets out of $form" same 0 "$(grep -c "$(printf '\033')" odd.txt)"
done
# 1,500 deep: stacks of 1 to 10 frames are 10 routes, the 1,490 others agree in 11 frames
record recursion.qprof 'f*1500(' ')*1500'
claim "a recursion has as many routes as they have frames" same '[11,1490,true,11]' \
    "$(qprof detail f --routes=11 --format=json recursion.qprof |
        jq -c '[(.stack_suffixes | length), (.stack_suffixes[0] | .hits, .cut, (.calls | length))]')"

# ---- lines: f has blocks on lines 1, 2, 3 ---------------------------------------------------------
printf 'one\ntwo\n\tthree\n' > score.src
record lines.qprof 'f(' '#0*1' '#1*5000000000' 9 ')'
claim "counts of lines" same '[[1,1,0],[2,5000000000,0],[3,0,1]]' \
    "$(qprof annotate --format=json lines.qprof | jq -c '[.files[0].lines[] | [.line, .count, .missed]]')"
claim "a line of source with its count" same '| 5,000,000,000 2 two' \
    "$(qprof annotate f lines.qprof | awk '$NF == "two" { print $1, $2, $3, $4 }')"
claim "a line that was never executed is marked" same '# 0 3 three' \
    "$(qprof annotate score.src lines.qprof | awk '$NF == "three" { print $1, $2, $3, $4 }')"
if qprof html -o page.html lines.qprof >printed 2>err; then
    claim "a page says which sources it has" same 'It has the text of 1 source, whether or not it is what was recorded; check before you share it (--no-sources leaves texts out):
  score.src' "$(sed 1d printed)"
    claim "without sources it says nothing of them" same '' "$(qprof html --no-sources -o page.html lines.qprof | sed 1d)"
    claim "nor has it any" sh -c '! grep -q three page.html'
    mv score.src away.src
    claim "and what it lacks" same 'It lacks the text of 1 source (--source-path=DIR searches a folder):
  score.src: no such file' "$(qprof html -o page.html lines.qprof | sed 1d)"
    mv away.src score.src
    qprof html -o - lines.qprof >page.html 2>err
    claim "a page on standard output says it beside" same \
        'qprof html: the page has the text of 1 source, and lacks 0 (-o FILE: which ones)' "$(cat err)"
fi
rm score.src
claim "without the source the figures stay" same '| 5,000,000,000 2' \
    "$(qprof annotate f lines.qprof | awk '$3 == "2" { print $1, $2, $3 }')"
claim "and it is reported with a hint" sh -c \
    "qprof annotate f lines.qprof | grep 'No source text' | grep -q -- --source-path"

# the example of the specification: block 2 has 15 and with callees 25, block 0 5; f has 20 of 30
record blocks.qprof 'f(' 4 ':2' 2 'g(' 10 ')' 4 ':0' 5 ':2' 5 ')'
claim "times of lines are in percent of their function's" same '| 15.000 75.0 25.000 83.3 3, | 5.000 25.0 5.000 16.7 1' \
    "$(qprof annotate --unit=us f blocks.qprof | awk '/^[|]/ && NF > 3 { print $1, $2, $3, $4, $5, $6 }' |
        sort -k2 -rn | paste -sd, | sed 's/,/, /')"
claim "a function says what it took and who called it" same '* f: 1 call, self 20.000 us (66.7 %), total 30.000 us (100.0 %)
* called by .root. (1)' "$(qprof annotate f blocks.qprof | sed -n 's/^  *[*]/*/p')"
record native.qprof 'main(' 2 'native!(' 50 ')' 'small(' 1 ')' ')'
claim "without a name: the hottest function that has lines" sh -c \
    "qprof annotate native.qprof | grep -Fq '* main: 1 call, self 2.000 us'"
record lineless.qprof 'native!(' 50 ')'
claim "if none has, it is reported" says 'no function that was called has lines' qprof annotate lineless.qprof
mkdir away && echo 'text of it' > away/score.src
QPROF='-output=away.qprof -source-path=away' ./score 'main(' '#0*3' ')'
text_of_it() { awk '/text of it/ { print $1, $2, $3, $4, $5, $6 }'; }
claim "a profile does not say where sources are looked for" same '' "$(qprof annotate main away.qprof | text_of_it)"
claim "the command does" same '| 3 1 text of it' "$(qprof annotate --source-path=away main away.qprof | text_of_it)"
claim "or its environment" same '| 3 1 text of it' \
    "$(QPROF=-source-path=away qprof annotate main away.qprof | text_of_it)"
cp away.qprof without.qprof
without_checksums without.qprof
sed 's/-output=away.qprof/-newer=away.qprof /' without.qprof >newer.qprof
claim "options of a newer recorder are passed over" same "$(qprof detail --format=json main away.qprof | jq .callers)" \
    "$(timeout 60 qprof detail --format=json main newer.qprof | jq .callers)"
claim "which has options that are not known" sh -c 'qprof info newer.qprof | grep -q -e -newer='
QPROF='-output=grain.qprof -collection-granularity=function' ./score 'main(' 5 ')'
claim "a run without figures of lines says why" sh -c \
    "qprof annotate grain.qprof | grep -q 'No figures of lines: .*recorded with -collection-granularity=function'"

# ---- deep recursion ------------------------------------------------------------------------------
record deep.qprof 'main(' 'f*1000000(' 1 ')*1000000' ')'
claim "a million levels are counted" same 1000000 \
    "$(qprof report --format=json deep.qprof | jq '.methods[] | select(.name == "f") | .calls')"
qprof tree deep.qprof > deep.txt
claim "and shown in one row" grep -Fq '... 999,999 more levels of f' deep.txt
claim "the hottest path too" sh -c "qprof tree --hottest deep.qprof | grep -Fq '999,999 more levels'"
record b.qprof 'main(' 'hot(' 8 ')' 'cold(' 2 ')' ')'
claim "a threshold also ends the hottest path" same 'main' \
    "$(qprof tree --hottest --min-percent=90 b.qprof | awk '/score.src/ { print $(NF-1) }' | tr '\n' ' ' | sed 's/ $//')"
claim "one branch is left out" sh -c "qprof tree --min-percent=50 b.qprof | grep -q '^1 branch hidden; '"
claim "if all are, no text claims that nothing was called" sh -c \
    "qprof tree --min-percent=101 b.qprof | grep -q '^No branch has that much of the time'"
claim "or two" sh -c "qprof tree --min-percent=90 b.qprof | grep -q '^2 branches hidden; show them with'"
record cycle.qprof 'a(' 'b(' 'a(' 'b(' 'a(' 'b(' 'a(' 'b(' 'a(' 'b(' 'a(' 'b(' 1 ')*12'
claim "a cycle of two is folded" sh -c "qprof tree cycle.qprof | grep -Fq 'more levels of a, b'"

# ---- skips and threads -----------------------------------------------------------------------------
# main 4 us before and 2 after; the 50 us of hidden and of main pass while recording is off
record skips.qprof 'main(' 4 stop 'hidden(' 50 ')' 'f(' ')' start 'f(' 1 ')' 2 ')'
claim "time does not count while recording is off" same '[1,6000,7000,null,null,6000]' "$(figures skips.qprof main)"
claim "a function without hits is hidden" same '[]' "$(figures skips.qprof hidden)"
# main 4 + 6, f! 5 + 2 in main, g 3 in f!: f! has no file
record groups.qprof 'main(' 4 'f!(' 5 'g(' 3 ')' 2 ')' 6 ')'
# groups WORD FLAGS...: "name functions calls self total" of the rows, in their order
groups() {
    qprof report --by="$1" --format=json ${2:-} groups.qprof |
        jq -r '.rows[] | "\(.name) \(.functions) \(.calls) \(.self) \(.total)"'
}
claim "by file: what a file called in itself through another one counts once" same \
    "score.src 2 2 13000 20000
(none) 1 1 7000 10000" "$(groups file)"
claim "by module: the program's" same "score 3 3 20000 20000" "$(groups module)"
claim "by class: none" same "(none) 3 3 20000 20000" "$(groups class)"
claim "by file, sorted by name" same "(none)
score.src" "$(groups file --sort=name | cut -d' ' -f1)"
claim "a part of the run: at least 50 %" same "score.src 65 %" \
    "$(qprof report --by=file --min-self=50 --format=csv groups.qprof | tr -d '\r"' |
        awk -F, 'NR > 1 { print $1, $7 + 0, "%" }')"
claim "as text" grep -Eq '^score.src +2 +2 +13.000 +65.0 +20.000 +100.0 +6.500 us$' <<END
$(qprof report --by=file groups.qprof)
END
# A.a of app 4 + 6, B.b of lib 5 + 2 in A.a, A.c of lib 3 in B.b; then d of lib 7, without a class
record kinds.qprof module=app class=A 'a(' 4 module=lib class=B 'b(' 5 class=A 'c(' 3 ')' 2 ')' 6 ')' class= 'd(' 7 ')'
claim "by class: what a class called in itself through another one counts once" same \
    "A 2 2 13000 20000
(none) 1 1 7000 7000
B 1 1 7000 10000" "$(cp kinds.qprof groups.qprof && groups class)"
claim "by module" same "lib 3 3 17000 17000
app 1 1 10000 20000" "$(groups module)"
record groups.qprof 'main(' 4 'f!(' 5 'g(' 3 ')' 2 ')' 6 ')'
claim "it fits its schema" same "" "$(qprof report --by=file --format=json groups.qprof |
    jq -r --slurpfile schema "$root/docs/schema/report-by.json" -f "$here/schema.jq")"
claim "what groups do not have is refused" same \
    "qprof report: --by: rows can be sorted by self, total, calls and name" \
    "$(qprof report --by=file --sort=avg groups.qprof 2>&1)"
claim "functions with at least 40 % of the run themselves" same main \
    "$(qprof report --min-self=40 --format=json groups.qprof | jq -r '.methods[].name')"
claim "... and with what they called" same "f! main" \
    "$(qprof report --min-total=50 --format=json groups.qprof | jq -r '.methods[].name' | sort | xargs)"
claim "what that leaves out is counted" same "2 functions left out by --min-self or --min-total" \
    "$(qprof report --min-self=40 groups.qprof | tail -n 1)"
claim "... and is no lack of calls" same "No function has that much of the time.
1 function left out by --min-self or --min-total" "$(qprof report --min-self=60 --filter=main groups.qprof | tail -n 2)"
claim "... nor of files" same "Nothing has that much of the time.
2 rows left out by --min-self or --min-total" "$(qprof report --min-self=70 --by=file groups.qprof | tail -n 2)"
QPROF="-output=timeless.qprof -time=none" ./score 'main(' 4 ')'
claim "without times they are ignored, with a warning" same \
    "qprof report: timeless.qprof: --min-self and --min-total are ignored: it has no times" \
    "$(qprof report --min-total=3 timeless.qprof 2>&1 >out)"
claim "... and the function is there" grep -q '^main ' out
if [ -x "$bin/qlua" ]; then
    cat >wait.lua <<'END'
local function wait() local p = io.popen("sleep 0.2") p:read("a") p:close() end
local function work() local n = 0 for i = 1, 5000000 do n = n + i end return n end
wait() work()
END
    QPROF="-output=wait.qprof" qlua wait.lua
    claim "where Run % is shown, --min-self is about that: a wait is no work" same work \
        "$(qprof report --min-self=40 --format=json wait.qprof | jq -r '.methods[].name')"
fi
claim "unless skips are asked for" same '1 hit, 1 skip; 0 hits, 1 skip' \
    "$(qprof report --show-skips --format=json skips.qprof | jq -r '[.methods[] | select(.name == "f" or .name == "hidden")]
        | sort_by(.name) | "\(.[0].hits) hit, \(.[0].skips) skip; \(.[1].hits) hits, \(.[1].skips) skip"')"
claim "calls are hits and skips" same 'f 2 1' \
    "$(qprof report --show-skips skips.qprof | awk '$1 == "f" { print $1, $2, $3 }')"
record one.qprof 'main(' 4 ')'
claim "one of each is in the singular" sh -c "qprof report one.qprof | grep -q ' 1 call of 1 function on 1 thread, '"
record off.qprof stop 'main(' 4 'f(' ')' ')'
claim "with skips only it is shown where they are" sh -c \
    "qprof report off.qprof | grep -q 'while recording was off; qprof report --show-skips'"
record threads.qprof 'main(' 10 'f(' 5 ')' ')' thread 'main(' 30 ')'
claim "two threads with their times" same '[[1,2,15000],[2,1,30000]]' \
    "$(qprof report --format=json threads.qprof | jq -c '[.threads[] | [.number, .calls, .total]]')"
claim "one of them" same '[["main",1,30000]]' \
    "$(qprof report --thread=2 --format=json threads.qprof | jq -c '[.methods[] | [.name, .calls, .self]]')"
claim "a row for each" same '2 1 30.000 66.7' \
    "$(qprof report --threads --unit=us threads.qprof | awk '$1 == 2 { print $1, $3, $4, $5 }')"
claim "the tree has both in one branch" same 'main 2 f 1' \
    "$(qprof tree threads.qprof | awk '$5 == "main" { print $5, $4 } $6 == "f" { print $6, $4 }' | xargs)"
claim "or each" same 2 "$(qprof tree --threads threads.qprof | grep -c ' thread [12] ')"
claim "JSON has the call paths of each thread, unless they are merged" same '3 2' \
    "$(for flag in --threads --merge-threads; do
        qprof tree --format=json $flag threads.qprof | jq '[.nodes[] | select(.method > 0)] | length'
    done | xargs)"
claim "or one" same 30000 "$(qprof tree --thread=2 --format=json threads.qprof | jq '[.nodes[].self] | add')"

# ---- names of all kinds --------------------------------------------------------------------------
record names.qprof "$(printf 'a\033[31mred\nline(')" 1 ')' '=cmd|calc(' 1 ')' "$(printf 'bad\377utf(')" 1 ')' \
    'he wrote "hi"(' 1 ')' "$(printf 'gr\303\274n(')" 1 ')'
qprof report names.qprof > names.txt
claim "control characters are shown, not sent" grep -Fq 'a\x1B[31mred\x0Aline' names.txt
claim "an invalid byte is shown" grep -Fq 'bad\xFFutf' names.txt
claim "JSON stays valid" same 5 "$(qprof report --format=json names.qprof | jq '.methods | length')"
claim "an invalid byte becomes U+FFFD" same 1 \
    "$(qprof report --format=json names.qprof | jq -r '.methods[].name' | grep -Fxc "$(printf 'bad\357\277\275utf')")"
claim "a formula is guarded" sh -c "qprof report --format=csv names.qprof | grep -Fq '\"'\\''=cmd|calc\"'"
claim "quotes are doubled" sh -c "qprof report --format=csv names.qprof | grep -Fq '\"he wrote \"\"hi\"\"\"'"

long=$(awk 'BEGIN { for (i = 0; i < 60000; i++) printf "n" }')
record long.qprof "$long(" 1 'f(' 1 ')' ')'
widest() { awk '{ if (length($0) > n) n = length($0) } END { print n }'; }
claim "a long name is cut to 80 columns" same "$(printf '%s' "$long" | cut -c1-77)..." \
    "$(qprof report long.qprof | awk '/^nnn/ { print $1 }')"
claim "rows stay short" test "$(qprof report long.qprof | widest)" -lt 200
claim "in the tree" test "$(qprof tree long.qprof | widest)" -lt 200
claim "and in details" test "$(qprof detail f long.qprof | widest)" -lt 200
claim "threads are named after it" test "$(qprof report --threads long.qprof | widest)" -lt 200
claim "JSON has all of it" same "$long" \
    "$(qprof report --format=json long.qprof | jq -r '.methods[].name | select(. != "f")')"

record view.qprof 'main(' 'f(' 5 ')' ')'
claim "without calls of its own there is no time of one" same 'main 0 - - -' \
    "$(qprof report --when=score.f view.qprof | awk '$1 == "main" { print $1, $2, $7, $8, $9 }')"
claim "nor in detail" sh -c "! qprof detail --when=score.f main view.qprof | grep -q 'one call'"
claim "a view without paths says so" sh -c \
    "qprof report --when=score.f:-\>score.main view.qprof | grep -q '^No call path matches the pattern'"

# Coverage alone has functions and no call paths: what asks for those says so.
QPROF='-collect=coverage -output=covered.qprof' ./score 'main(' 'f(' ')' ')'
claim "of coverage alone there are functions" sh -c 'qprof report covered.qprof | grep -q "^main  *1"'
claim "and no tree" sh -c 'qprof tree covered.qprof | grep -q "^No call paths were recorded, only functions"'
for flag in --when=score.f --focus=f --hide=f --hide-module=score; do
    claim "${flag%%=*} needs paths" says "covered.qprof: it has only coverage; ${flag%%=*} needs call paths" \
        qprof report $flag covered.qprof
done
for format in pprof folded speedscope csv cpuprofile chrome firefox perfetto; do
    claim "nothing is exported to $format" says "it has only coverage, and $format shows call paths" \
        qprof export --to=$format -o none.$format covered.qprof
    claim "and no file is left" test ! -e none.$format
done
for format in callgrind dot quantify json sqlite html; do
    claim "$format has functions" qprof export --to=$format -o all.$format covered.qprof
done

QPROF="-time=sampled -output=unseen.qprof" ./score 'main(' 10 'f(' 5 ')' ')'
claim "what no sample has found is 0, without digits that are not known" same 'f 1 0 0' \
    "$(qprof report unseen.qprof | awk '$1 == "f" { print $1, $2, $3, $4 }')"

for file in ref rec lines deep cycle names skips threads; do
    claim "check passes on $file" ends 0 qprof check $file.qprof
    claim "info on $file" ends 0 qprof info $file.qprof
done
finish
