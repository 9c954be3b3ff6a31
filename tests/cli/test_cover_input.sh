#!/bin/sh
# test_cover_input.sh: `qprof cover` and `qprof list` with input that makes no sense or means harm,
# and their help.
. "$(dirname "$0")/lib.sh"

cover() {
    cover_file=$1
    shift
    QPROF="-output=$cover_file -cover=hits" ./score "$@"
}
esc=$(printf '\033')
seq 30 | sed 's/^/text of /' >score.src
cover good.qprof 'main(' '#0*1' ')'
mkdir folder
: >empty.qprof
echo 'print("hello")' >foreign.qprof

# ---- profiles ------------------------------------------------------------------------------------
for command in 'cover report' 'cover annotate' 'cover merge -o out.qprof' 'cover check' 'cover context' \
    'cover export --to=lcov' 'cover summary' list; do
    name=$(echo "$command" | sed 's/ -.*//')
    echo 'lines 1' >coverage.thresholds
    claim "$command: missing" says "qprof $name: missing.qprof: " qprof $command missing.qprof
    claim "$command: empty" says "qprof $name: empty.qprof: .*empty" qprof $command empty.qprof
    claim "$command: foreign" says "qprof $name: foreign.qprof: .*not a qprof profile" qprof $command foreign.qprof
    claim "$command: the second is bad" says 'empty.qprof: ' qprof $command good.qprof empty.qprof
done
claim "adjust: missing" says 'missing.qprof: ' qprof cover adjust missing.qprof
claim "diff: missing" says 'missing.qprof: ' qprof cover diff good.qprof missing.qprof
claim "a failed merge leaves no file" test ! -e out.qprof
claim "no profile anywhere" sh -c 'cd folder && ! qprof cover report 2>../err && grep -q "qprof run" ../err'
head -c $(($(stat -c %s good.qprof) - 64)) good.qprof >cut.qprof
claim "a cut file is salvaged" ends 1 qprof cover report cut.qprof
claim "and it is reported" grep -q 'cut.qprof: damaged' err
claim "and it is shown" grep -q '^Total' out
cover killed.qprof 'main(' '#0*7' kill 2>/dev/null
live=$(ls -t "${XDG_RUNTIME_DIR:-/dev/shm}"/*score* 2>/dev/null | head -1)
if [ -n "$live" ]; then
    claim "what a killed program counted" same '1:7 2:0 3:0' "$(qprof cover report --format=json "$live" 2>err |
        jq -r '[.files[0].lines[] | "\(.line):\(.hits)"] | join(" ")')"
    claim "unsealed is reported" grep -q 'unsealed, the program was killed' err
    rm -f "$live"
fi
QPROF="-output=rough.qprof -cover=hits -collection-granularity=function" ./score 'main(' ')'
claim "without lines" ends 0 qprof cover report rough.qprof
claim "is reported" grep -q 'collection-granularity=function: no counts of lines' err
claim "functions are shown" grep -Eq '^Total +1/1 +100.0$' out

# ---- names that mean harm ------------------------------------------------------------------------
# the module's file is always score.src: functions and contexts carry the names
bad="${esc}[31mred\"<script>,%:
next"
cover bad.qprof "@$bad" "$bad(" '#0*1' ')'
for command in 'report --functions' 'report --format=json' annotate \
    'annotate --contexts' context 'context --format=json' 'context score.src:1' summary \
    'check --annotations=github' 'check --annotations=plain' 'check --annotations=gitlab'; do
    qprof cover $command bad.qprof >out 2>err
    claim "cover $command: no escape gets out" test "$(cat out err | grep -c "$esc")" -eq 0
done
claim "json is json" sh -c 'qprof cover context --format=json bad.qprof | jq -e ".contexts | length == 1"'
claim "json keeps the name" same "$bad" "$(qprof cover context --format=json bad.qprof | jq -r '.contexts[0].name')"
claim "list" test "$(qprof list bad.qprof | grep -c "$esc")" -eq 0
claim "list as json" sh -c 'qprof list --format=json bad.qprof | jq -e ".calls | length == 1"'
cp good.qprof "$(printf 'a\033[31m.qprof')"
claim "a file's own name" test "$(qprof cover report "$(printf 'a\033[31m.qprof')" 2>&1 | grep -c "$esc")" -eq 0

# ---- usage ---------------------------------------------------------------------------------------
claim "no command" ends 2 qprof cover
claim "a command with a slip" says 'unknown command cover reprot .similar: cover report' qprof cover reprot
claim "one that resembles no command" says 'unknown command cover zzzzzz .see qprof help cover' qprof cover zzzzzz
claim "a flag before the command" says 'expected a command first' qprof cover --functions report
claim "a flag with a slip" \
    says 'qprof cover report: unknown option --uncoverd .similar: --uncovered' qprof cover report --uncoverd
claim "a flag that resembles no option" says 'see qprof cover report --help' qprof cover report --zzzzzz
claim "two sources" says 'not a profile \(and not one.lua\)' qprof cover annotate one.lua two.lua good.qprof
claim "two conflicting options" says 'cannot be combined' qprof cover context score.src:1 --only=x good.qprof
claim "no place" says 'expected a profile, or FILE:LINE' qprof cover context score.src good.qprof
claim "a place with a bad line" says 'expected a profile, or FILE:LINE' qprof cover context score.src:x good.qprof
many=$(seq 65 | tr '\n' ':')
claim "too many globs" says '64 of them at most' qprof cover report --include="$many" good.qprof

# ---- help ----------------------------------------------------------------------------------------
claim "cover --help" ends 0 qprof cover --help
cp out group
for command in report annotate merge diff check context adjust export summary; do
    claim "cover --help names $command" grep -q "^  cover $command " group
    claim "cover $command --help" ends 0 qprof cover $command --help
    claim "has examples" grep -q "^  .*qprof cover" out
    claim "fits 80 columns" test "$(awk 'length($0) > 80' out | wc -l)" -eq 0
    claim "help cover $command is the same" same "$(cat out)" "$(qprof help cover $command)"
done
claim "the formats are in the help" sh -c 'qprof cover export --help | grep -q "^  cobertura  *Cobertura XML"'
claim "with what they cannot hold" sh -c 'qprof cover export --help | grep -q "cannot hold: "'
claim "list --help" sh -c 'qprof list --help | grep -q -- --not-executed'
if command -v bash >/dev/null; then
    # what bash offers after some words
    offers() {
        bash -c 'source <(qprof help --completion=bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _qprof
            echo "${COMPREPLY[@]}"' bash "$@"
    }
    claim "completion of a command of cover" same 'merge' "$(offers qprof cover me)"
    claim "of its flags" same '--uncovered' "$(offers qprof cover report --un)"
    claim "of another one's" same '--annotations=' "$(offers qprof cover check --anno)"
    claim "of flags of a plain command" same '--hottest' "$(offers qprof tree --ho)"
fi
finish
