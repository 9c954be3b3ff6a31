#!/bin/sh
# test_cover_diff.sh: two profiles compared, and coverage of changed lines alone.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || { echo "git is not installed"; exit 77; }

cover() {
    cover_file=$1
    shift
    QPROF="-output=$cover_file -cover=hits" ./score "$@"
}
seq 30 | sed 's/^/text of /' >score.src

# main: lines 1 to 3, f: 11 to 13. Old: 1 and 11 hit, 2 of 6 lines; new: 1, 2, 11 and 12, 4 of 6.
cover old.qprof 'main(' '#0*1' 'f(' '#0*1' ')' ')'
cover new.qprof 'main(' '#0*1' '#1*2' 'f(' '#0*1' '#1*1' ')' ')'

# ---- two profiles --------------------------------------------------------------------------------
claim "an improvement" ends 0 qprof cover diff old.qprof new.qprof
claim "has its section" same 'Improved score.src 33.3 66.6 +33.3' \
    "$(awk '/^[A-Z][a-z ]+$/ { title = $0 } /^  score.src/ { print title, $1, $2, $3, $4 }' out)"
claim "and the sum" grep -qx '1 of 1 files changed; 33.3 % of all lines became 66.6 %' out
claim "the other way round it is worse" same Worse "$(qprof cover diff new.qprof old.qprof | head -1)"
claim "as json" same 'improved 2/6 4/6' "$(qprof cover diff --format=json old.qprof new.qprof |
    jq -r '.files[0] | "\(.change) \(.was.lines_hit)/\(.was.lines) \(.is.lines_hit)/\(.is.lines)"')"
claim "functions" same 'main:improved f:improved' "$(qprof cover diff --format=json old.qprof new.qprof |
    jq -r '[.files[0].functions[] | "\(.name):\(.change)"] | join(" ")')"
claim "functions as text" sh -c 'qprof cover diff --functions old.qprof new.qprof | grep -Eq "^    f +33.3 +66.6 +\+33.3$"'
claim "alike" same '0 of 1 files changed; 33.3 % of all lines became 33.3 %' "$(qprof cover diff old.qprof old.qprof)"
cover none.qprof 'x!(' ')'
claim "new" same New "$(qprof cover diff none.qprof new.qprof 2>/dev/null | head -1)"
claim "gone" same 'Gone' "$(qprof cover diff new.qprof none.qprof 2>/dev/null | head -1)"
claim "one profile" says 'expected two profiles' qprof cover diff old.qprof

# ---- --fail-if-lower -----------------------------------------------------------------------------
claim "better passes" ends 0 qprof cover diff --fail-if-lower old.qprof new.qprof
claim "equal passes" ends 0 qprof cover diff --fail-if-lower new.qprof new.qprof
claim "worse fails" ends 1 qprof cover diff --fail-if-lower new.qprof old.qprof
claim "and says where" same \
    'qprof cover diff: lower: 66.66 % of all lines became 33.33 %, 2 more are missed; most of them in score.src' "$(cat err)"
claim "as JSON the same" ends 1 qprof cover diff --fail-if-lower --format=json new.qprof old.qprof
# three: 5 of 6 lines, 83 %; without f 2 of 3, 67 %, and 1 line is missed in both
cover three.qprof 'main(' '#0*1' '#1*2' 'f(' '#0*1' '#1*1' '#2*1' ')' ')'
cover two.qprof 'main(' '#0*1' '#1*2' ')'
claim "code that is gone is no loss" ends 0 qprof cover diff --fail-if-lower three.qprof two.qprof
claim "nothing to compare is no pass" ends 2 qprof cover diff --fail-if-lower none.qprof new.qprof
claim "but an error" grep -q -- '--fail-if-lower: no coverage in none.qprof: nothing was checked' err
# f is called in one of them, and counts no block: 1 of 6 lines in both, 1 and 2 of 2 functions
cover known.qprof 'main(' '#0*1' 'f?' ')'
cover called.qprof 'main(' '#0*1' 'f(' ')' ')'
claim "functions count where lines are alike" same 'Improved score.src 50.0 100.0 +50.0 functions' \
    "$(qprof cover diff known.qprof called.qprof | awk 'NR == 1 { title = $0 } /^  score.src/ { print title, $1, $2, $3, $4, $5 }')"
qprof cover diff known.qprof called.qprof >out
claim "the file has changed" grep -qx '1 of 1 files changed; 16.6 % of all lines became 16.6 %' out
claim "as JSON the file is as its function" same '["worse",[["f","worse"]]]' "$(qprof cover diff --format=json called.qprof known.qprof |
    jq -c '.files[0] | [.change, [.functions[] | [.name, .change]]]')"

record plain.qprof 'main(' '#0*1' ')'
claim "a profile without coverage is not compared" says \
    'nothing was checked: plain.qprof was recorded without -collect=coverage: functions that were never called are missing' \
    qprof cover diff --fail-if-lower new.qprof plain.qprof
head -c 9000 new.qprof >cut.qprof
claim "nor a damaged one" ends 2 qprof cover diff --fail-if-lower new.qprof cut.qprof
claim "it is named" grep -qx 'qprof cover diff: nothing was checked: cut.qprof is damaged' err
qprof run -o killed.qprof -collect=coverage -- ./score 'main(' '#0*1' 'kill' ')' >out 2>err
claim "nor that of a killed program" says 'nothing was checked: killed.qprof was not completed: the program was killed' \
    qprof cover diff --fail-if-lower new.qprof killed.qprof
echo 'return 1' >other.lua
if [ -x "$bin/qlua" ]; then
    qprof run -o elsewhere.qprof -collect=coverage -- qlua other.lua >out 2>err
    claim "nor one without a file of the other" says 'no file is in both profiles: nothing was checked' \
        qprof cover diff --fail-if-lower new.qprof elsewhere.qprof
fi
claim "changed lines have another limit" says 'use --fail-under' qprof cover diff --fail-if-lower --git=HEAD new.qprof

# ---- changed lines -------------------------------------------------------------------------------
git init -q . && git add score.src
git -c user.name=Test -c user.email=test@example.org commit -q -m first
claim "nothing has changed" ends 0 qprof cover diff --git=HEAD new.qprof
claim "and it is reported" grep -q 'No changed line has code' out
sed -i '2s/$/ now/; 12,14s/$/ now/' score.src
# lines 2, 12, 13 and 14: 2 and 12 are hit, 13 is missed, 14 has no code
claim "changed lines" ends 0 qprof cover diff --git=HEAD new.qprof
claim "their figures" grep -Eq '^Total +2/3 +1 +66.6$' out
claim "what was missed" same '    13' "$(tail -1 out)"
claim "as json" same '4 3 2 13' "$(qprof cover diff --git=HEAD --format=json new.qprof |
    jq -r '.files[0] | "\(.changed) \(.lines) \(.lines_hit) \(.missed[0].first)"')"
claim "enough" ends 0 qprof cover diff --git=HEAD --fail-under=66 new.qprof
claim "not enough" ends 1 qprof cover diff --git=HEAD --fail-under=90 new.qprof
claim "by how much" grep -q '66.66 % of 3 lines were hit, 23.34 below 90' err
claim "for GitHub, only what has changed" same \
    '::warning file=score.src,line=13,endLine=13,title=Coverage::line 13 was never executed' \
    "$(qprof cover diff --git=HEAD --annotations=github new.qprof)"
mkdir part && cp score.src part && cp new.qprof part && git add part &&
    git -c user.name=Test -c user.email=test@example.org commit -q -m second part && sed -i '1s/$/ now/' part/score.src
claim "in a part of the repository" sh -c 'cd part && qprof cover diff --git=HEAD new.qprof | grep -Eq "^Total +1/1"'
claim "of all of it" same '1 1 part/score.src' "$(cd part && qprof cover diff --git=HEAD --repo=.. --format=json new.qprof |
    jq -r '.files[] | select(.known) | "\(.lines) \(.lines_hit) \(.path)"')"
git diff >changes.patch
claim "a patch" sh -c 'qprof cover diff --patch=changes.patch new.qprof | grep -Eq "^Total +2/3"'
claim "from standard input" sh -c 'git diff -U0 | qprof cover diff --patch=- new.qprof | grep -Eq "^Total +2/3"'

# ---- what can be wrong ---------------------------------------------------------------------------
claim "a revision that is none" says "git: .: .*nowhere" qprof cover diff --git=nowhere new.qprof
claim "a flag for git" says 'expected a revision' qprof cover diff --git=--output=stolen new.qprof
claim "nothing was written" test ! -e stolen
claim "no repository" \
    sh -c 'cd / && qprof cover diff --git=HEAD --repo=/ '"$work"'/new.qprof 2>&1 | grep -q "git: /: not a git repository"'
claim "no such folder" says "git: .*missing" qprof cover diff --git=HEAD --repo=missing new.qprof
claim "no git" \
    sh -c 'tool=$(command -v qprof); PATH=/nowhere "$tool" cover diff --git=HEAD new.qprof 2>&1 | grep -q "git is not installed"'
claim "no patch" says 'missing.patch: no such file' qprof cover diff --patch=missing.patch new.qprof
claim "something else than a patch" \
    says 'score.src: not a unified diff' qprof cover diff --patch=score.src --fail-under=1 new.qprof
printf 'diff --git a/x b/y\nsimilarity index 100%%\nrename from x\nrename to y\n' >renamed.patch
claim "a patch that changes no line" ends 0 qprof cover diff --patch=renamed.patch --fail-under=100 new.qprof
: >empty.patch
claim "a patch of nothing" ends 0 qprof cover diff --patch=empty.patch --fail-under=100 new.qprof
claim "a pipe of the shell" bash -c 'qprof cover diff --patch=<(cat renamed.patch) new.qprof'
claim "two conflicting options" says '--git and --patch cannot be combined' qprof cover diff --git=HEAD --patch=- new.qprof
claim "a limit without a question" says 'applies to changed lines' qprof cover diff --fail-under=3 old.qprof new.qprof
mkdir evil && printf '#!/bin/sh\ntouch %s/ran\n' "$work" >evil/run && chmod +x evil/run
git config diff.external "$work/evil/run"
git config core.fsmonitor "$work/evil/run"
claim "the repository's own programs are not run" \
    sh -c 'qprof cover diff --git=HEAD new.qprof | grep -q "^Total" && ! test -e ran'

# ---- merge ---------------------------------------------------------------------------------------
claim "merge" ends 0 qprof cover merge -o both.qprof old.qprof new.qprof
claim "says what it did" grep -q '^both.qprof: 2 runs, 2 functions$' out
claim "the sums" same '1:2 2:2 3:0 11:2 12:1 13:0' "$(qprof cover report --format=json both.qprof |
    jq -r '[.files[0].lines[] | "\(.line):\(.hits)"] | join(" ")')"
claim "layered" ends 0 qprof cover merge --layered -o layers.qprof old.qprof new.qprof
claim "who hit line 12" same 1 "$(qprof cover context score.src:12 --format=json layers.qprof | jq '.contexts | length')"
claim "what the new one alone hits" same '    2, 12' "$(qprof cover context layers.qprof --format=json |
    jq -r '.contexts[] | select(.only > 0) | .name' | {
        read -r name
        qprof cover context --only="$name" layers.qprof | tail -1
    })"
claim "where to" says 'missing -o FILE' qprof cover merge old.qprof
claim "which" says 'missing profiles' qprof cover merge -o out.qprof
claim "a folder that is none" says 'no/all.qprof: ' qprof cover merge -o no/all.qprof old.qprof

# ---- adjust --------------------------------------------------------------------------------------
sed -i '3s/$/ purecov: tested/; 13s/$/ purecov: deadcode/
    20s/$/ purecov: begin inspected/; 22s/$/ purecov: end inspected/' score.src
claim "markers count" ends 0 qprof cover report new.qprof
claim "a dead line is in no total, a tested one is hit" grep -Eq '^Total +2/2 +100.0 +5/5' out
claim "unless one does not want them" sh -c 'qprof cover report --no-adjust new.qprof | grep -Eq "^Total +2/2 +100.0 +4/6"'
claim "extraction" ends 0 qprof cover adjust -o marks new.qprof
claim "lines of each type" grep -Eq '^score.src +1 +1 +3$' out
claim "from a source" sh -c 'qprof cover adjust score.src | grep -Eq "^Total +1 +1 +3$"'
mv score.src away
claim "the file does what the markers did" \
    sh -c 'qprof cover report --adjustments=marks new.qprof 2>/dev/null | grep -Eq "^Total +2/2 +100.0 +5/5"'
printf 'PureCoverage Adjustments File 1.0\nscore.src\t1\ttested\tL\t3\nscore.src\t1\tpages\tL\t3\n' >marks
claim "a bad line is named" sh -c 'qprof cover report --adjustments=marks new.qprof 2>&1 >/dev/null | grep -q "marks:3: "'
claim "and the rest holds" \
    sh -c 'qprof cover report --adjustments=marks new.qprof 2>/dev/null | grep -Eq "^Total +2/2 +100.0 +5/6"'
claim "something else than adjustments" ends 2 qprof cover report --adjustments=changes.patch new.qprof
finish
