#!/bin/sh
# test_diff.sh: what diff says of runs whose figures were worked out by hand.
. "$(dirname "$0")/lib.sh"

rows() { jq -c '[.rows[] | [.name, .state, .calls.change, .self.change, .total.change]]'; }
diff_json() { qprof diff --format=json "$@"; }

# ---- one run a side, in microseconds ----------------------------------------------------------
# base: main 10, hot 50, cold 20, old 5; new: hot 20 % slower, old gone, fresh 7 calls hot (3)
record base.qprof 'main(' 10 'hot(' 50 ')' 'cold(' 20 ')' 'old(' 5 ')' ')'
record new.qprof 'main(' 10 'hot(' 60 ')' 'cold(' 20 ')' 'fresh(' 7 'hot(' 3 ')' ')' ')'
claim "the function that is slower comes first" same \
    '[["hot","changed",1,13000,13000],["fresh","new",1,7000,10000],["old","gone",-1,-5000,-5000]]' \
    "$(diff_json base.qprof new.qprof | rows)"
# main 85 -> 100: only by what it called
claim "callers are listed by their totals" same '[["main","alike",0,0,15000]]' \
    "$(diff_json --sort=total base.qprof new.qprof | jq -c '{rows: .rows[:1]}' | rows)"
claim "the whole run" same '{"base":85000,"new":100000,"change":15000,"noise":0}' \
    "$(diff_json base.qprof new.qprof | jq -c .whole.total)"
claim "how many are what" same '{"alike":2,"changed":1,"new":1,"gone":1}' \
    "$(diff_json base.qprof new.qprof | jq -c .states)"
qprof diff --unit=us base.qprof new.qprof >table.txt
claim "a row" same 'hot +13.000 +26.0 50.000 63.000 +13.000 +1 score.src:11' \
    "$(awk '$1 == "hot" { $1 = $1; print }' table.txt)"
claim "a row of base alone" same 'old -5.000 gone 5.000 0.000 -5.000 -1 score.src:31' \
    "$(awk '$1 == "old" { $1 = $1; print }' table.txt)"
claim "what is alike is not there" same 0 "$(grep -c '^cold' table.txt)"
claim "15 of 85 are 17.6 %" grep -q 'total  *85.000 us -> 100.000 us, +15.000 us (+17.6 %)' table.txt
claim "noise is unknown of one run a side" grep -q 'noise  *unknown with one run a side' table.txt
claim "80 columns are enough" test "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' table.txt)" -le 80
claim "less is an improvement" same '[["hot",-13000],["fresh",-7000],["old",5000]]' \
    "$(diff_json new.qprof base.qprof | jq -c '[.rows[] | [.name, .self.change]]')"
claim "a limit" sh -c "qprof diff --limit=1 base.qprof new.qprof | grep -q '^and 2 more; --limit=0'"
claim "a filter" same '["old"]' "$(diff_json --filter=old base.qprof new.qprof | jq -c '[.rows[].name]')"
claim "a filter that nothing fits" sh -c "qprof diff --filter=cold base.qprof new.qprof | grep -q 'No difference matches the filter'"
claim "csv" same 'changed,"hot","score","score.src",11,1,2,1,0,50000,63000,13000,0,50000,63000,13000,0' \
    "$(qprof diff --format=csv base.qprof new.qprof | tr -d '\r' | grep hot)"

# ---- itself -------------------------------------------------------------------------------------
for form in '' --paths --threads --sort=total; do
    claim "a run differs from itself in nothing $form" same '[]' "$(diff_json $form base.qprof base.qprof | jq -c .rows)"
done
claim "and it is reported" sh -c "qprof diff base.qprof base.qprof | grep -qx 'No differences.'"

# ---- paths, threads, parts ------------------------------------------------------------------------
claim "call paths" same '[["main > hot",10000],["main > fresh",7000],["main > old",-5000],["main > fresh > hot",3000]]' \
    "$(diff_json --paths base.qprof new.qprof | jq -c '[.rows[] | [(.path | join(" > ")), .self.change]]')"
claim "as text" sh -c "qprof diff --paths base.qprof new.qprof | grep -q '^main > fresh > hot '"
record t1.qprof 'main(' 10 'f(' 5 ')' ')' thread 'work(' 30 ')'
record t2.qprof 'main(' 10 'f(' 5 ')' ')' thread 'work(' 33 'f(' 1 ')' ')' thread 'late(' 2 ')'
claim "threads by their names" same '[[".work_2.","changed",1,4000],[".late_3.","new",1,2000]]' \
    "$(diff_json --threads t1.qprof t2.qprof | jq -c '[.rows[] | [.name, .state, .calls.change, .total.change]]')"
claim "one of them" same '[["work","changed",0,3000,4000],["f","new",1,1000,1000]]' \
    "$(diff_json --thread=.work_2. t1.qprof t2.qprof | rows)"
claim "a thread that one side lacks" same '[["late","new",1,2000,2000]]' \
    "$(diff_json --thread=.late_3. t1.qprof t2.qprof | rows)"
claim "a thread that no side has" says 'no run has a thread xyz' qprof diff --thread=xyz t1.qprof t2.qprof
record small.qprof 'main(' 'fresh(' ')' ')'
claim "what one function does" same '[["fresh","changed",0,7000,10000],["hot","new",1,3000,3000]]' \
    "$(diff_json --focus=fresh small.qprof new.qprof | rows)"
claim "hidden functions are folded into their callers" same '[["hot","changed",1,13000,13000],["main","changed",0,2000,15000]]' \
    "$(diff_json --hide='[of]*' base.qprof new.qprof | rows)"

# ---- qxdiff -----------------------------------------------------------------------------------------
qprof diff --qxdiff base.qprof new.qprof >qx.txt
claim "lines of qxdiff" same '! hot  +1 calls  +13,000 ns
+ fresh  +1 calls  +7,000 ns
- old  -1 calls  -5,000 ns
3 differences; +15,000 ns, +17.6 % of the total' "$(cat qx.txt)"
claim "its legend" sh -c "qprof diff --qxdiff -l base.qprof new.qprof | head -1 | grep -q '^- only in base'"
claim "its legend, of the table" sh -c "qprof diff -l base.qprof new.qprof | tail -3 | grep -q 'less than 0 is an improvement'"

# ---- several runs: distances of 1 us each way ------------------------------------------------------
# hot: 50, 51, 49 and 60, 61, 59; S = 1 us, k = 5.9, noise = 5.9 * sqrt(2 / 3) = 4.817... us
# cold: 20, 22, 18 and 22, 24, 20: +2 of noise 9.6
for i in 0 1 2; do
    record a$i.qprof 'main(' 10 'hot(' $((50 + (i + 1) % 3 - 1)) ')' 'cold(' $((20 + 2 * (i - 1))) ')' ')'
    record b$i.qprof 'main(' 10 'hot(' $((60 + (i + 1) % 3 - 1)) ')' 'cold(' $((22 + 2 * (i - 1))) ')' ')'
done
claim "medians, and only what is more than noise" same '[["hot",50000,60000,10000,4818]]' \
    "$(diff_json --base a?.qprof --new b?.qprof | jq -c '[.rows[] | [.name, .self.base, .self.new, .self.change, .self.noise]]')"
claim "the order of runs does not matter" same "$(diff_json --base a?.qprof --new b?.qprof | jq -c .rows)" \
    "$(diff_json --new b2.qprof b0.qprof b1.qprof --base a1.qprof a2.qprof a0.qprof | jq -c .rows)"
claim "the noise is shown" sh -c "qprof diff --base a?.qprof --new b?.qprof | grep -q 'noise .*what may be chance is not listed'"
claim "possible noise is shown" sh -c \
    "qprof diff --base a0.qprof a1.qprof a2.qprof --new a2.qprof a1.qprof a0.qprof |
        grep -qx 'No difference is more than chance.'"

# The page has these figures of functions. The runs take 78, 81, 81 and 90, 93, 93 us: of the order of the command line
# a1 and b1 are in the middle.
qprof html --base a0.qprof a1.qprof a2.qprof --new b2.qprof b1.qprof b0.qprof -o sets.html >/dev/null
sed -n '/ id="index">/,/<\/script>/{s/.* id="index">//;s/<\/script>.*//;p}' sets.html >sets.json
claim "the page of two sets: the runs whose call paths it has" same \
    '[["a1.qprof",3,81000],["b2.qprof",3,93000]]' "$(jq -c '[.base, .run | [.fileName, .runs, .total]]' sets.json)"
claim "medians and noise, of the time and of the run time" same '[60000,"changed",50000,4818]' \
    "$(jq -c '(.methods | map(.[0]) | index("hot")) as $i |
        [.methods[$i][6], ["alike", "changed"][.changes[$i][0]], .changes[$i][3, 4]]' sets.json)"

for i in 0 1 2; do
    record p$i.qprof 'main(' 7 'hot(' $((100 + 10 * i)) ')' ')'
    record q$i.qprof 'main(' 7 'hot(' $((105 + 10 * i)) ')' ')'
done
# S is the fourth of 10, 10, 10, 10, 20, 20; (3.4 + 15 / 6) * 10 * sqrt(2 / 3) = 48.173...
claim "what may be chance is named, if it is the largest" same \
    'The largest is that of hot: +5.000 us, +- 48.174 us. More runs a side see smaller changes.' \
    "$(qprof diff --base p?.qprof --new q?.qprof | tail -1 | sed 's/\xc2\xb1/+-/')"

# ---- what cannot be compared --------------------------------------------------------------------------
QPROF='-output=counts.qprof -clock=counts' ./score 'main(' 5 ')'
QPROF='-output=none.qprof -time=none' ./score 'main(' 'hot(' ')' 'hot(' ')' ')'
QPROF='-output=adaptive.qprof -time=adaptive' ./score 'main(' 5 ')'
claim "another unit" says 'counts.qprof: its figures are counts and those of the other runs ns' qprof diff base.qprof counts.qprof
claim "without times calls are compared" same '[["cold","gone"],["hot","changed"],["old","gone"]]' \
    "$(diff_json base.qprof none.qprof | jq -c '[.rows[] | [.name, .state]]')"
claim "it is reported" sh -c "qprof diff base.qprof none.qprof | grep -q 'calls; not all runs have times'"
claim "different modes are remarked" sh -c "qprof diff base.qprof adaptive.qprof | grep -q 'base exact, new adaptive'"
claim "one profile is too few" says 'expected two profiles' qprof diff base.qprof
claim "three are too many" says 'expected two profiles' qprof diff base.qprof new.qprof a0.qprof
claim "one side is too few" says 'expected two profiles' qprof diff --base base.qprof
claim "both ways are too many" says 'too many operands' qprof diff a0.qprof --base base.qprof --new new.qprof
claim "a page of three" says 'too many operands: a page shows one profile, or compares two; --base and --new' \
    qprof html base.qprof new.qprof a0.qprof
claim "a side without files" says '--new needs a value: --new=FILE' qprof html --base a0.qprof --new -o never.html
claim "a page with one side" says '--base: expected two sets of profiles' qprof html --base a0.qprof a1.qprof
claim "a page of what cannot be compared" says 'counts.qprof: its figures are counts' \
    qprof html --base a0.qprof counts.qprof --new b0.qprof
claim "no timeline of several runs" says '--trace cannot be combined with several profiles' \
    qprof html --trace=t.qtrace --base a0.qprof --new b0.qprof
claim "a file that is none" says 'missing.qprof' qprof diff base.qprof missing.qprof
claim "a form of text is not ignored where it is none" says \
    '--qxdiff is for text and cannot be combined with --format' \
    qprof diff --qxdiff --format=json base.qprof new.qprof
QPROF='-collect=coverage -output=covered.qprof' ./score 'main(' 'f(' ')' ')'
claim "coverage alone has nothing to compare here" says \
    'covered.qprof: it has only coverage .compare it with qprof cover diff.' \
    qprof diff base.qprof covered.qprof
claim "a moment that is not known is not 1970" same '' "$(qprof export --to=callgrind -o cg.out base.qprof
    qprof diff cg.out cg.out | grep 1970)"
claim "two kinds at once" says 'cannot be combined' qprof diff --paths --threads base.qprof new.qprof

# ---- names of all kinds, and depth ---------------------------------------------------------------------
record odd.qprof "$(printf 'a\033[31mred\nline(')" 1 ')' '=cmd|calc(' 1 ')' "$(printf 'bad\377utf(')" 1 ')'
record none_of.qprof 'main(' 1 ')'
for form in '' --paths --qxdiff; do
    qprof diff $form none_of.qprof odd.qprof >odd.txt
    claim "no control character gets out $form" same 0 "$(grep -c "$(printf '\033')" odd.txt)"
done
claim "JSON stays valid" same 4 "$(diff_json none_of.qprof odd.qprof | jq '.rows | length')"
claim "a formula is guarded" sh -c "qprof diff --format=csv none_of.qprof odd.qprof | grep -Fq '\"'\\''=cmd|calc\"'"
record deep.qprof 'f*100000(' 1 ')*100000'
qprof diff --paths none_of.qprof deep.qprof >deep.txt
claim "deep paths show their ends" grep -q '^\.\.\..*> f ' deep.txt
claim "and stay short" test "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' deep.txt)" -lt 160

finish
