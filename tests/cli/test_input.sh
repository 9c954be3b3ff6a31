#!/bin/sh
# test_input.sh: input that is not a profile, or a damaged one, and commands that make no sense: one
# line that says what is wrong; nothing is changed.
. "$(dirname "$0")/lib.sh"

record good.qprof 'main(' 10 'f(' 5 ')' ')'
mkdir folder
: > empty.qprof
echo 'print("hello")' > foreign
head -c 100 good.qprof > head.qprof
mkfifo pipe
: > sparse && truncate -s 1T sparse
# byte 8: the major version; bytes 12 to 15: 01 02 03 04 backwards
cp good.qprof newer.qprof && printf '\377' | dd of=newer.qprof bs=1 seek=8 conv=notrunc 2>/dev/null
cp good.qprof endian.qprof && printf '\1\2\3\4' | dd of=endian.qprof bs=1 seek=12 conv=notrunc 2>/dev/null

for command in report tree 'detail f' annotate info check; do
    claim "$command: missing" says "qprof ${command% f}: missing.qprof: " qprof $command missing.qprof
    claim "$command: empty" says 'empty' qprof ${command% f} $([ "$command" = 'detail f' ] && echo f) empty.qprof
done
claim "a folder" says 'folder: .*directory' qprof report folder
claim "a foreign file" says 'foreign: .*not a qprof profile' qprof report foreign
QPROF="-output=traced.qprof -collect=profile,trace -trace-output=raw.qtrace" ./score 'main(' 10 ')'
claim "a trace in a profile's place" says 'raw.qtrace: it is a raw trace, not a profile: use qprof trace' qprof report raw.qtrace
claim "cut inside its head" says 'head.qprof: ' qprof report head.qprof
claim "a device" says '/dev/zero: ' qprof report /dev/zero
claim "a pipe does not block" says 'pipe: ' timeout 5 qprof report pipe
claim "a terabyte of nothing" says 'sparse: ' timeout 5 qprof report sparse
claim "a newer format" says 'newer.qprof: .*version' qprof report newer.qprof
claim "another byte order" says 'endian.qprof: ' qprof report endian.qprof
claim "a process that does not record" says '1: ' qprof report 1
claim "no profile anywhere" sh -c 'cd folder && ! qprof report 2>../err && grep -q "qprof run" ../err'

# ---- a cut file: what is left is shown, exit status 1 --------------------------------------------
size=$(stat -c %s good.qprof)
head -c $((size - 64)) good.qprof > cut.qprof
cp cut.qprof before
claim "a cut file is salvaged" ends 1 qprof report cut.qprof
claim "and it is reported" grep -q 'cut.qprof: damaged' err
claim "the report has the header" grep -q '^  recorded' out
claim "nothing was written to it" cmp before cut.qprof

# ---- usage --------------------------------------------------------------------------------------
claim "a command with a slip" says 'unknown command reprot .similar: report' qprof reprot
claim "a flag with a slip" says 'unknown option --sotr .similar: --sort' qprof report --sotr
claim "a flag that resembles no option" says 'unknown option --zzzzzz .see qprof report --help' qprof report --zzzzzz
claim "a word that is none" says 'expected self\|total' qprof report --sort=size
claim "a number that is none" says 'expected a whole number, 0 or more' qprof report --limit=many
claim "a negative number" says 'expected a whole number, 0 or more' qprof tree --depth=-1
claim "a negative percentage" says 'expected a number, 0 or more' \
    qprof diff --fail-if-slower=-1 good.qprof good.qprof
claim "a value that is missing" says 'needs a value' qprof report --sort
claim "a value too many" says 'takes no value' qprof report --threads=3
claim "an operand too many" says 'third' qprof report good.qprof third
claim "a unit" says 'unit=weeks' qprof report --unit=weeks good.qprof
claim "a thread" says 'no thread 77' qprof report --thread=77 good.qprof
claim "a function" says 'no function g' qprof detail g good.qprof
claim "no function" says 'usage: qprof detail' qprof detail
claim "a source" says 'no function nowhere.lua' qprof annotate nowhere.lua good.qprof
claim "no command" ends 2 qprof
claim "flags of one letter" ends 0 qprof report -n1 -s total good.qprof
claim "the end of flags" ends 0 qprof report -- good.qprof

record many.qprof 'parse_a(' 1 ')' 'parse_b(' 1 ')'
claim "a part of two names" says 'parse is ambiguous: it matches 2 functions.*parse_a.*parse_b' qprof detail parse many.qprof
claim "a part of one name" ends 0 qprof detail e_b many.qprof

# ---- help ---------------------------------------------------------------------------------------
claim "version" same "qprof $(sed -n 's/^project(qprof VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")" \
    "$(qprof --version)"
for command in run report tree detail annotate info check top help; do
    claim "$command --help" ends 0 qprof $command --help
    claim "$command has examples" grep -q "^  .*qprof $command" out
    claim "help $command is the same" same "$(cat out)" "$(qprof help $command)"
    claim "help names $command" sh -c "qprof help | grep -q '^  $command '"
done

# ---- output -------------------------------------------------------------------------------------
claim "a full disk" sh -c '! qprof report good.qprof >/dev/full 2>err; grep -q "No space left" err'
claim "its exit status" same 2 "$(qprof report good.qprof >/dev/full 2>/dev/null; echo $?)"
record wide.qprof 'main(' 'f*100000(' 1 ')*100000' ')'
claim "a reader that leaves is not an error" same '' \
    "$( (qprof tree --format=json wide.qprof; echo $? >status) 2>&1 | head -c 0; cat status | grep -v '^0$')"
claim "colours on demand" test "$(qprof report --color=always good.qprof | grep -c "$(printf '\033')\[1m")" -gt 0
if command -v script >/dev/null; then
    colours() { script -qec "$1" /dev/null </dev/null | grep -c "$(printf '\033')\[1m"; }
    claim "colours on a terminal" test "$(TERM=xterm colours 'qprof report good.qprof')" -gt 0
    claim "none with NO_COLOR" same 0 "$(TERM=xterm NO_COLOR=1 colours 'qprof report good.qprof')"
    claim "none on a dumb one" same 0 "$(TERM=dumb colours 'qprof report good.qprof')"
    claim "no bar for what takes no second" same 0 \
        "$(script -qec 'qprof report good.qprof' /dev/null </dev/null | grep -c 'reading \[')"
    longest=$(script -qec 'stty cols 50; qprof report --color=never good.qprof' /dev/null </dev/null |
        tr -d '\r' | sed -n '/^Function/,$p' | awk '{ if (length($0) > n) n = length($0) } END { print n }')
    claim "a table fits the terminal" test "$longest" -le 50
fi
finish
