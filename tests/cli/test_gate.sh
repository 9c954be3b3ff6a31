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
claim "a gate that checks nothing does not pass" says '--filter=nowhere matches no function: nothing was checked' \
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
#   t for 1 of 100 is 3.764: 0.078297 * 3.764 = 0.2947; 1.1006 * (exp(0.2947) - 1) = 37.7 %
#   runs: the spread of one is 0.095894, so t = sqrt(n / 2): 2.449 of 22 with 12 runs, where 2.508 is needed; 2.550
#   of 24 with 13, where 2.492 is
for i in 0 1 2; do
    record a$i.qprof 'main(' 10 'hot(' $((50 + (i + 1) % 3 - 1)) ')' 'cold(' $((20 + 2 * (i - 1))) ')' ')'
    record b$i.qprof 'main(' 10 'hot(' $((60 + (i + 1) % 3 - 1)) ')' 'cold(' $((22 + 2 * (i - 1))) ')' ')'
done
claim "what may be noise is not certain" ends 3 qprof diff --fail-if-slower=1 --filter=cold --base a?.qprof --new b?.qprof
claim "how many runs would do follows from the spread" same \
    'qprof diff: cannot tell: total time of cold may have grown by more than 1 %: by 10.1 % +- 37.7 % (19.933 us -> 21.939 us); 13 runs a side would do' \
    "$(sed 's/\xc2\xb1/+-/' err)"
claim "as JSON" same '[13,19933,21939,37.7]' \
    "$(first '.runs_needed, .base, .new, (.noise_percent * 10 | round / 10)' \
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
claim "others are remarked" sh -c "qprof diff --fail-if-slower=5 --base c?.qprof --new d?.qprof 2>&1 | grep -q 'all runs of base came before those of new'"

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
for limit in x '' 1.5 -1 %; do
    claim "no number: $limit" says "calls:$limit: expected a whole number or a percentage" qprof diff --fail-if-more=calls:$limit base.qprof new.qprof
done
claim "two limits" says 'calls has two limits' qprof diff --fail-if-more=calls:0,calls:1 base.qprof new.qprof
claim "what was not recorded" says 'not all runs have allocations' qprof diff --fail-if-more=bytes:0 base.qprof new.qprof
claim "instructions, the same" says 'instructions: not known of all runs' qprof diff --fail-if-more=instructions:0 base.qprof new.qprof
claim "nor of paths" says 'instructions: not known of call paths' qprof diff --paths --fail-if-more=instructions:0 base.qprof new.qprof

# ---- markdown --------------------------------------------------------------------------------------
record odd-1.qprof 'main(' 'a|b`<c>_@me#1(' 1 ')' ')'
record odd-2.qprof 'main(' 'a|b`<c>_@me#1(' 1 ')' 'a|b`<c>_@me#1(' 1 ')' ')'
qprof diff --format=markdown --fail-if-more=calls:0 odd-1.qprof odd-2.qprof >odd.md 2>err
claim "the verdict comes first" same '### qprof: fail: 1 of 2 figures grew by more than the limit' "$(head -1 odd.md)"
claim "names are no markup" grep -Fqx \
    '| <code>a&#124;b&#96;&#60;c&#62;&#95;&#64;me&#35;1</code> <code>score.src&#58;11</code> | calls | 1 | 2 | +100.0 % | 0 | fail |' odd.md
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
