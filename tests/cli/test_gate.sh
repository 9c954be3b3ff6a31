#!/bin/sh
# test_gate.sh: what the gates of diff make of runs whose figures were worked out by hand.
. "$(dirname "$0")/lib.sh"

# first FIELDS ARGUMENTS...: of the first figure that the gate lists
first() {
    first_fields=$1
    shift
    qprof diff --format=json "$@" 2>/dev/null | jq -c ".gate.figures[0] | [$first_fields]"
}
verdicts() { qprof diff --format=json "$@" 2>/dev/null | jq -c '[.gate.figures[] | [.name, .figure, .verdict]]'; }

# ---- one run a side: nothing shows the noise ----------------------------------------------------
# hot: 50 -> 63 is 26 %; the whole run: 85 -> 100 is 17.6 %; fresh has nothing to be compared with
record base.qprof 'main(' 10 'hot(' 50 ')' 'cold(' 20 ')' 'old(' 5 ')' ')'
record new.qprof 'main(' 10 'hot(' 60 ')' 'cold(' 20 ')' 'fresh(' 7 'hot(' 3 ')' ')' ')'
claim "equal runs pass" ends 0 qprof diff --fail-if-slower=0 base.qprof base.qprof
claim "26 % is not more than 26 %" ends 0 qprof diff --fail-if-slower=26 base.qprof new.qprof
claim "a function is judged by its own time" ends 3 qprof diff --fail-if-slower=25 base.qprof new.qprof
claim "and what would settle it is named" same \
    'qprof diff: cannot tell: self time of hot grew by 26.0 % (50.000 us -> 63.000 us), more than 25 %, but one run a side does not show what of it is noise; compare 5 runs a side with --base and --new' \
    "$(cat err)"
claim "the head says so" grep -qx '  gate        cannot tell: 1 of 5 figures may have grown by more than the limit; 5 runs a side would do' out
claim "the whole run is judged, too" same '[["hot","self time","cannot-tell"],["","total time","cannot-tell"]]' \
    "$(verdicts --fail-if-slower=17 base.qprof new.qprof)"
claim "faster is not slower" ends 0 qprof diff --fail-if-slower=5 new.qprof base.qprof
record swap.qprof 'main(' 10 'hot(' 80 ')' 'old(' 5 ')' ')'
claim "others do not make up for a function" same '[["hot","self time","cannot-tell"]]' \
    "$(verdicts --fail-if-slower=20 base.qprof swap.qprof)"
claim "with a filter its total time counts" same '[["hot","total time","cannot-tell"]]' \
    "$(verdicts --fail-if-slower=25 --filter=hot base.qprof new.qprof)"
claim "another one is not asked for" ends 0 qprof diff --fail-if-slower=1 --filter=cold base.qprof new.qprof
claim "a gate that checks nothing does not pass" says 'nothing was checked: --filter=nowhere matches no function' \
    qprof diff --fail-if-slower=5 --filter=nowhere base.qprof base.qprof

# Less than 1 % of the time does not matter: tiny has 3 of 1,000, small 20 and grows by 8.
record tiny-1.qprof 'main(' 977 'tiny(' 3 ')' 'small(' 20 ')' ')'
record tiny-2.qprof 'main(' 977 'tiny(' 9 ')' 'small(' 28 ')' ')'
claim "small functions do not hold up a gate" ends 0 qprof diff --fail-if-slower=20 tiny-1.qprof tiny-2.qprof
claim "unless they are asked for" ends 3 qprof diff --fail-if-slower=20 --filter=tiny tiny-1.qprof tiny-2.qprof

# ---- several runs a side ------------------------------------------------------------------------
# hot: 50, 51, 49 and 60, 61, 59 us; cold: 18, 20, 22 and 20, 22, 24; main 10. Of cold:
#   ln 18, 20, 22 = 2.89037, 2.99573, 3.09104: mean 2.99238, variance 0.0100757
#   ln 20, 22, 24 = 2.99573, 3.09104, 3.17805: mean 3.08828, variance 0.0083160
#   growth exp(0.095894) = 10.06 %; error sqrt((0.0100757 + 0.0083160) / 3) = 0.078297, of 3.96 degrees of freedom
#   t for 1 of 100 is 3.764: 0.078297 * 3.764 = 0.2947; 1.10064 * exp(-0.2947) = 0.8197, 1.10064 * exp(0.2947) = 1.4779
#   runs: the spread of one is 0.095894, so t = sqrt(n / 2): 2.449 of 22 with 12 runs, where 2.508 is needed; 2.550
#   of 24 with 13, where 2.492 is
for i in 0 1 2; do
    record a$i.qprof 'main(' 10 'hot(' $((50 + (i + 1) % 3 - 1)) ')' 'cold(' $((20 + 2 * (i - 1))) ')' ')'
    record b$i.qprof 'main(' 10 'hot(' $((60 + (i + 1) % 3 - 1)) ')' 'cold(' $((22 + 2 * (i - 1))) ')' ')'
done
claim "what may be noise is not certain" ends 3 qprof diff --fail-if-slower=1 --filter=cold --base a?.qprof --new b?.qprof
claim "how many runs would do follows from the spread" same \
    'qprof diff: cannot tell: total time of cold may have grown by more than 1 %: by 10.1 % (-18.0 to 47.8 %; 19.933 us -> 21.939 us); 13 runs a side would do' \
    "$(cat err)"
claim "as JSON" same '[13,19933,21939,-18,47.8]' \
    "$(first '.runs_needed, .base, .new, (.least_percent * 10 | round / 10), (.most_percent * 10 | round / 10)' \
        --fail-if-slower=1 --filter=cold --base a?.qprof --new b?.qprof)"
claim "enough room for the noise passes" ends 0 \
    qprof diff --fail-if-slower=50 --filter=cold --base a?.qprof --new b?.qprof
claim "more than the noise fails" ends 1 qprof diff --fail-if-slower=5 --base a?.qprof --new b?.qprof
claim "hot before all others" same '["hot","self time","fail",49993,59994]' \
    "$(first '.name, .figure, .verdict, .base, .new' --fail-if-slower=5 --base a?.qprof --new b?.qprof)"
claim "rows have their verdicts" same '[["hot","fail"],["cold","cannot-tell"]]' \
    "$(qprof diff --format=json --fail-if-slower=5 --base a?.qprof --new b?.qprof 2>err | jq -c '[.rows[] | [.name, .verdict]]')"
claim "in CSV as well" same 'hot,fail cold,cannot-tell' \
    "$(qprof diff --format=csv --fail-if-slower=5 --base a?.qprof --new b?.qprof 2>err | tr -d '"\r' |
        awk -F, 'NR > 1 { printf "%s%s,%s", (NR > 2 ? " " : ""), $2, $NF }')"
claim "without a gate there are no verdicts" same 'false false' \
    "$(qprof diff --format=json base.qprof new.qprof | jq -r '"\(has("gate")) \(.rows[0] | has("verdict"))"')"
claim "alternated runs are as they should be" same 0 "$(qprof diff --fail-if-slower=5 --base a?.qprof --new b?.qprof 2>&1 | grep -c 'came before')"
for i in 0 1 2; do record c$i.qprof 'main(' 10 'hot(' 50 ')' ')'; done
for i in 0 1 2; do record d$i.qprof 'main(' 10 'hot(' $((60 + i)) ')' ')'; done
for verdict in 1,5 0,90 3,23; do
    claim "others are remarked: status $verdict" ends ${verdict%,*} \
        qprof diff --fail-if-slower=${verdict#*,} --base c?.qprof --new d?.qprof
    claim "which came first" grep -q 'all runs of base came before those of new: alternate them' err
done
claim "new before base" sh -c "qprof diff --fail-if-slower=5 --base d?.qprof --new c?.qprof 2>&1 | grep -q 'all runs of new came before those of base'"
claim "counts do not care" same '' "$(qprof diff --fail-if-more=calls:0 --base c?.qprof --new d?.qprof 2>&1 >out)"

# From 10 us to 20 and 10,000 us, two runs a side: ln 2 and ln 1000, their mean 3.800 and half their distance 3.107;
# t of one degree of freedom is 31.82, so that the interval ends at exp(3.800 + 98.9) and at exp(-95.1)
for i in 1 2; do record wide-$i.qprof 'main(' 10 ')'; done
record wide-3.qprof 'main(' 20 ')'
record wide-4.qprof 'main(' 10000 ')'
claim "no interval overflows" ends 3 \
    qprof diff --format=markdown --fail-if-slower=20 --base wide-[12].qprof --new wide-[34].qprof
claim "its end is cut" grep -Fq '| +4372.1 % (-100.0 to more than 1,000,000 %) | 20 % | cannot tell |' out
claim "in JSON as well" same '[-100,1000000]' "$(first '.least_percent, .most_percent' --fail-if-slower=20 \
    --base wide-[12].qprof --new wide-[34].qprof)"

QPROF='-output=none.qprof -time=none' ./score 'main(' 'hot(' ')' 'hot(' ')' ')'
QPROF='-output=none-2.qprof -time=none' ./score 'main(' 'hot(' ')' 'hot(' ')' 'hot(' ')' ')'
claim "without times nothing is slower" says 'needs times' qprof diff --fail-if-slower=5 none.qprof base.qprof

# ---- counts -----------------------------------------------------------------------------------------
claim "one more call is found with one run a side" ends 1 qprof diff --fail-if-more=calls:0 none.qprof none-2.qprof
claim "it is named" same 'qprof diff: more: calls of hot grew by 1, 50.0 % (2 -> 3), more than 0' "$(cat err)"
claim "one less is none more" ends 0 qprof diff --fail-if-more=calls:0 none-2.qprof none.qprof
claim "an absolute limit" ends 0 qprof diff --fail-if-more=calls:1 none.qprof none-2.qprof
claim "50 % is not more than 50 %" ends 0 qprof diff --fail-if-more=calls:50% none.qprof none-2.qprof
claim "50 % is more than 49.9 %" ends 1 qprof diff --fail-if-more=calls:49.9% none.qprof none-2.qprof
claim "of nothing, one is more than any percentage" ends 1 qprof diff --fail-if-more=calls:900% base.qprof new.qprof
claim "but not more than one" ends 0 qprof diff --fail-if-more=calls:1 base.qprof new.qprof
claim "call paths have counts" same '[["hot","calls","fail"],["fresh","calls","fail"]]' \
    "$(verdicts --paths --fail-if-more=calls:0 base.qprof new.qprof | jq -c 'sort | reverse')"
record gc-1.qprof 'main(' 'f(' ')' '<Garbage collector>(' 5 ')' ')'
record gc-2.qprof 'main(' 'f(' ')' '<Garbage collector>(' 5 ')' '<Garbage collector>(' 5 ')' ')'
claim "calls of the collector are chance" ends 0 qprof diff --fail-if-more=calls:0 gc-1.qprof gc-2.qprof

# f: 4, 5, 6 and 5, 6, 7 calls; g: 2 and 3 in all runs
for i in 1 2 3; do
    QPROF="-output=e$i.qprof -time=none" ./score 'main(' $(seq $((3 + i)) | sed 's/.*/f( )/') 'g(' ')' 'g(' ')' ')'
    QPROF="-output=f$i.qprof -time=none" ./score 'main(' $(seq $((4 + i)) | sed 's/.*/f( )/') 'g(' ')' 'g(' ')' 'g(' ')' ')'
done
claim "counts that vary are left to the noise" same '[["g","calls","fail"],["f","calls","cannot-tell"]]' \
    "$(verdicts --fail-if-more=calls:0 --base e?.qprof --new f?.qprof)"
claim "they are named" sh -c "qprof diff --fail-if-more=calls:0 --base e?.qprof --new f?.qprof 2>err |
    grep -qx '  varying     calls of f: judged by their noise'"
claim "those of base are enough" same '[["f","calls","cannot-tell",true]]' \
    "$(qprof diff --format=json --fail-if-more=calls:0 --base e?.qprof --new e3.qprof 2>err |
        jq -c '[.gate.figures[] | [.name, .figure, .verdict, .varies]]')"

# f: 100, 101, 102 calls and then the same: 0.0 % +- 3.1 %, where 10 % may hide
for i in 0 1 2; do QPROF="-output=g$i.qprof -time=none" ./score 'main(' $(seq $((100 + i)) | sed 's/.*/f( )/') ')'; done
claim "a little variation does not hold up a gate" ends 0 qprof diff --fail-if-more=calls:0 --base g?.qprof --new g?.qprof
claim "but is named" grep -qx '  varying     calls of f: judged by their noise' out

claim "a limit without a number" says 'expected FIGURE:LIMIT, as in calls:0,bytes:2%' qprof diff --fail-if-more=calls base.qprof new.qprof
claim "no limit" says 'expected FIGURE:LIMIT' qprof diff --fail-if-more= base.qprof new.qprof
claim "no such figure" says 'cals is not calls, bytes, objects, or instructions .similar: calls' qprof diff --fail-if-more=bytes:1,cals:0 base.qprof new.qprof
for limit in x '' 1.5 -1 % 0x10 1e3 1e-400; do
    claim "no number: $limit" says "calls:$limit: expected a whole number or a percentage" qprof diff --fail-if-more=calls:$limit base.qprof new.qprof
done
claim "in an option each, too" says 'calls has two limits' qprof diff --fail-if-more=calls:0 --fail-if-more=calls:5 none.qprof none-2.qprof
claim "two options with two figures are both judged" says 'not all runs have allocations' \
    qprof diff --fail-if-more=bytes:0 --fail-if-more=calls:5 none.qprof none-2.qprof
claim "none of them is dropped" ends 1 qprof diff --fail-if-more=calls:0 --fail-if-slower=900 base.qprof new.qprof
claim "one of no limit neither" says 'expected FIGURE:LIMIT' qprof diff --fail-if-more=calls:0 --fail-if-more= base.qprof new.qprof
claim "nor of two for times" says 'fail-if-slower is given twice' qprof diff --fail-if-slower=5 --fail-if-slower=50 base.qprof new.qprof
for limit in foo '' é; do
    claim "a figure that is like none: $limit" says "is not calls, bytes, objects, or instructions\$" \
        qprof diff --fail-if-more="$limit:0" base.qprof new.qprof
done
# 10,000 calls and 1 or 201 more are 0.01 % and 2.01 %
for n in 10000 10001 10201; do QPROF="-output=n$n.qprof -time=none" ./score 'main(' f~$n ')'; done
qprof diff --fail-if-more=calls:0 n10000.qprof n10001.qprof >out 2>err
claim "a small growth is not 0" same 'qprof diff: more: calls of f grew by 1, 0.01 % (10,000 -> 10,001), more than 0' "$(cat err)"
qprof diff --fail-if-more=calls:2% n10000.qprof n10201.qprof >out 2>err
claim "one above its limit not as much" same \
    'qprof diff: more: calls of f grew by 201, 2.01 % (10,000 -> 10,201), more than 2 %' "$(cat err)"
claim "two limits" says 'calls has two limits' qprof diff --fail-if-more=calls:0,calls:1 base.qprof new.qprof
claim "what was not recorded" says 'not all runs have allocations' qprof diff --fail-if-more=bytes:0 base.qprof new.qprof
claim "instructions, the same" says 'instructions: not known of all runs' qprof diff --fail-if-more=instructions:0 base.qprof new.qprof
claim "nor of paths" says 'instructions: not known of call paths' qprof diff --paths --fail-if-more=instructions:0 base.qprof new.qprof

# ---- what is not all there, or nothing -----------------------------------------------------------------
# gate FILE WHY: no gate judges it on either side
gate() {
    for sides in "base.qprof $1" "$1 base.qprof"; do
        for limit in slower=900 more=calls:900; do
            claim "$1 is not judged by $limit" ends 2 qprof diff --fail-if-$limit $sides
            claim "a line says why" grep -qx "qprof diff: nothing was checked: $2" err
            claim "nothing else is written" test ! -s out
        done
    done
}
head -c 9000 base.qprof >cut.qprof
gate cut.qprof 'cut.qprof is damaged'
claim "without a gate it is compared" ends 1 qprof diff base.qprof cut.qprof
claim "with a line" grep -qx '  incomplete  cut.qprof is damaged' out
qprof run -o killed.qprof -- ./score 'main(' 10 'hot(' 50 ')' 'kill' ')' >out 2>err
gate killed.qprof 'killed.qprof was not completed: the program was killed'
claim "without a gate" ends 0 qprof diff killed.qprof base.qprof
claim "the table says so" grep -qx '  incomplete  killed.qprof was not completed: the program was killed' out
claim "as JSON" same '["was not completed: the program was killed",null]' \
    "$(qprof diff --format=json killed.qprof base.qprof | jq -c '[.base.incomplete, .new.incomplete]')"
claim "as markdown" same '**Incomplete:** <code>killed.qprof</code> was not completed: the program was killed' \
    "$(qprof diff --format=markdown killed.qprof base.qprof | grep Incomplete)"
QPROF='-output=full.qprof -memory-limit=1M' ./score 'main(' 'f*100000(' ')*100000' ')'
gate full.qprof 'full.qprof lost [0-9,]* of 100,001 calls: it was full, or they were too deep'
record stopped.qprof 'stop' 'main(' 10 'hot(' 50 ')' ')'
gate stopped.qprof 'stopped.qprof recorded no call'
claim "nor what is hidden" says 'nothing was checked: base.qprof has no function that is not hidden' \
    qprof diff --fail-if-more=calls:0 --hide='*' base.qprof new.qprof
claim "nor a function that is gone" says 'nothing was checked: --filter=cold matches no function of new' \
    qprof diff --fail-if-slower=5 --filter=cold base.qprof swap.qprof
claim "nor one that is new, by its time" says 'nothing was checked: --fail-if-slower: base has no time of it' \
    qprof diff --fail-if-slower=5 --filter=fresh base.qprof new.qprof
claim "nor a thread that one run lacks" says 'nothing was checked: base.qprof has no thread nowhere' \
    qprof diff --fail-if-slower=5 --thread=nowhere base.qprof new.qprof
for i in 1 2; do QPROF="-output=units-$i.qprof -clock=counts" ./score 'main(' 'hot(' ')' ')'; done
claim "nor times that are all 0" says 'nothing was checked: --fail-if-slower: base has no time' \
    qprof diff --fail-if-slower=5 units-1.qprof units-2.qprof
claim "calls of such runs are judged" ends 0 qprof diff --fail-if-more=calls:0 units-1.qprof units-2.qprof

# ---- markdown --------------------------------------------------------------------------------------
record odd-1.qprof 'main(' 'a|b`<c>_@me#1(' 1 ')' ')'
record odd-2.qprof 'main(' 'a|b`<c>_@me#1(' 1 ')' 'a|b`<c>_@me#1(' 1 ')' ')'
qprof diff --format=markdown --fail-if-more=calls:0 odd-1.qprof odd-2.qprof >odd.md 2>err
claim "the verdict comes first" same '### qprof: fail: 1 of 2 figures grew by more than the limit' "$(head -1 odd.md)"
claim "names are no markup" grep -Fqx \
    '| <code>a&#124;b&#96;&#60;c&#62;&#95;&#64;me&#35;1</code> <code>score.src&#58;11</code> | calls | 1 | 2 | +100.0 % | 0 | fail |' odd.md
odd=$(printf 'x\n\n# qprof: pass\r\033[31m\a\342\200\256\377\302(')
record ill-1.qprof 'main(' "$odd" 1 ')' ')'
record ill-2.qprof 'main(' "$odd" 1 ')' "$odd" 1 ')' ')'
qprof diff --format=markdown --fail-if-more=calls:0 ill-1.qprof ill-2.qprof >ill.md 2>err
claim "names are one line, as on a terminal" grep -Fq \
    '| <code>x&#92;x0A&#92;x0A&#35; qprof&#58; pass&#92;x0D&#92;x1B&#91;31m&#92;x07&#92;u&#123;202E&#125;&#92;xFF&#92;xC2</code>' ill.md
claim "and of valid UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null ill.md
claim "without a control character" same 0 "$(LC_ALL=C tr -d '\n -~\200-\377' <ill.md | wc -c)"
claim "details are folded" same '<details><summary>Functions: 1 changed, 0 new, 0 gone</summary>' "$(grep details odd.md | head -1)"
claim "and end" same '</details>' "$(tail -1 odd.md)"
claim "a row of them" grep -Fq '</code> | 1.000 us | 2.000 us | +100.0 % | +1 |' odd.md
claim "without a gate what changed comes first" same '### qprof: Functions: 1 changed, 1 new, 1 gone' \
    "$(qprof diff --format=markdown base.qprof new.qprof | head -1)"
claim "a gate that cannot tell" same \
    '### qprof: cannot tell: 1 of 1 figures may have grown by more than the limit; 13 runs a side would do' \
    "$(qprof diff --format=markdown --fail-if-slower=1 --filter=cold --base a?.qprof --new b?.qprof 2>err | head -1)"
claim "one that passes has no table of its own" same '### qprof: pass: none of 5 figures grew by more than its limit|' \
    "$(qprof diff --format=markdown --fail-if-slower=30 base.qprof new.qprof | head -3 | tr '\n' '|' | sed 's/||Time.*/|/')"
finish
