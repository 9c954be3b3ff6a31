#!/bin/sh
# test_pm.sh: `qprof pm`, the prompt of MAINPM.
. "$(dirname "$0")/lib.sh"

QPROF="-output=a.qprof -pc='REAL 3600000000'" ./score 'main(' %1 'f(' %3 ')' ')'
QPROF="-output=b.qprof -pc='REAL 3600000000'" ./score 'main(' %2 'g(' %4 ')' ')'
record plain.qprof 'main(' 'f(' ')' ')'

pm() { printf '%s\n' "$@" >commands; qprof pm <commands >out 2>err; }
row() { grep -E "^  $1 " out | head -1 | tr -s ' '; }

# ---- statistics --------------------------------------------------------------------------------------
claim "LOAD and LIST" pm 'load a.qprof' list
claim "report" same ' score f 3 75.0 3 75.0 ' "$(row 'score +f' | sed 's/$/ /')"
claim "ADD adds" pm 'LOAD a.qprof' 'add b.qprof' 'list' # sampling 37
claim "the sum" same ' score main 3 30.0 10 100.0 ' "$(row 'score +main' | sed 's/$/ /')"
claim "LOAD takes the place of what was there" pm 'lo a.qprof' 'lo b.qprof' 'li'
claim "of the last one" same '' "$(row 'score +f')"
QPROF="-output=other.qprof -pc='REAL 3500000000'" ./score 'main(' %1 ')'
claim "PC samples that do not add up are refused" sh -c \
    "! printf 'load a.qprof\nadd other.qprof\nlist\n' | qprof pm >out 2>err"
claim "where they are named" same "qprof pm: line 2: other.qprof: PC REAL 3500000000 differs \
from PC REAL 3600000000 of the statistics; their PC samples do not add up (LOAD takes it alone)" "$(cat err)"
claim "and what was there stays" same ' score f 3 75.0 3 75.0 ' "$(row 'score +f' | sed 's/$/ /')"
claim "LOAD of calls after PC samples" pm 'load a.qprof' 'load plain.qprof' calls list
claim "lists the calls" grep -q '^Calls$' out
claim "SAVE" pm 'load a.qprof' 'ad b.qprof' 'sa sum.qprof'
claim "can be loaded" pm 'load sum.qprof' 'list'
claim "and is the sum" same ' score g 4 40.0 4 40.0 ' "$(row 'score +g' | sed 's/$/ /')"
claim "LIST FILE" pm 'load a.qprof' 'list report.txt'
claim "is the report" grep -q '^By deep count$' report.txt
claim "files on the command line" sh -c "echo list | qprof pm a.qprof | grep -q '4 occurred'"

# ---- settings ----------------------------------------------------------------------------------------
claim "MODULE" pm 'load a.qprof' module list
claim "breaks down to modules" same ' score 4 100.0 4 100.0 ' "$(row score | sed 's/$/ /')"
claim "CALLS" pm 'load a.qprof' calls list
claim "are in the report" grep -q '^Calls$' out
claim "NOCALLS" pm 'load a.qprof' calls nocalls list
claim "are not" sh -c '! grep -q "^Calls$" out'
claim "MONITORMODULE" pm 'load a.qprof' 'monitorm other' list
claim "only such modules" same '' "$(row 'score +f')"
claim "NOMONITORMODULE" pm 'load a.qprof' 'nomonitorm s*' 'nomonitorm' list
claim "all again" same ' score f 3 75.0 3 75.0 ' "$(row 'score +f' | sed 's/$/ /')"
claim "INFO" pm 'load a.qprof' 'pc real 500' info
claim "shows the settings" grep -q '^PC  *real 500$' out
printf 'load a.qprof\nlist\n' >more
claim "INCLUDE" pm 'include more'
claim "reads commands" grep -q '4 occurred' out
echo 'include self' >self
claim "files that include themselves end" test "$(pm 'include self'; echo $?)" = 1

# ---- areas -------------------------------------------------------------------------------------------
# sampling 6: MONITORAREA t, ?, none; if any include exists, only what is included; exclusions always apply.
# 10 PC samples: 1 in main, below it 3 in f, 4 in g, 2 in x!, which has no file and so no module
QPROF="-output=c.qprof -pc='REAL 3600000000'" ./score 'main(' %1 'f(' %3 ')' 'g(' %4 ')' 'x!(' %2 ')' ')'
cat >areas.conf <<'END'
pri nosuch.pri
area mine include : f glob:g*
area some exclude : !f x!
area src include : file:score.src
area "of f" include checked=no : regex:^f$
END
areas() { # COMMAND...: what LIST reports then, as procedure:shallow/deep
    printf '%s\n' 'load c.qprof' "$@" list | qprof pm --config=areas.conf >out 2>err
    sed -n '/^By shallow/,/^By deep/p' out | grep '^  ' | grep -v Module |
        awk '{ print $(NF - 4) ":" $(NF - 3) "/" $(NF - 1) }' | sort | xargs
}
claim "an area" same 'f:3/3 g:4/4' "$(areas 'monitora mine')"
claim "percentages stay those of all" grep -Eq '^  score +g +4 +40.0 +4 +40.0$' out
claim "one that excludes, without what is not checked" same 'x!:2/2' "$(areas 'monitora some')"
claim "a file" same 'f:3/3 g:4/4 main:1/10' "$(areas 'monitora src')"
claim "without an area" same 'main:1/10 x!:2/2' "$(areas 'nomonitora mine')"
claim "exclusions always apply" same 'g:4/4 main:1/10' "$(areas 'monitora src' 'nomonitora of f')"
claim "two areas" same 'f:3/3 x!:2/2' "$(areas 'monitora some' 'monitora of f')"
claim "areas and modules are a union" same 'f:3/3 g:4/4 main:1/10 x!:2/2' \
    "$(areas 'monitora some' 'monitorm score')"
claim "without what is excluded" same 'x!:2/2' "$(areas 'monitora some' 'monitora src' 'nomonitorm sc*')"
claim "what is wanted and excluded is left out" same '' "$(areas 'monitora mine' 'nomonitora src')"
claim "modules count their part of the area" same 'score:7/7' "$(areas 'monitora mine' module)"
claim "both are undone" same 'f:3/3 g:4/4 main:1/10 x!:2/2' \
    "$(areas 'nomonitora some' 'monitora mine' monitora)"
claim "by either command" same 'f:3/3 g:4/4 main:1/10 x!:2/2' \
    "$(areas 'nomonitora some' 'monitora mine' nomonitora)"
areas 'monitora mine' counts calls >/dev/null
claim "also calls and counts" same 'f g' \
    "$(awk '/^Calls/ { on = 1 } on && /score.src/ { print $2 }' out | sort -u | xargs)"
areas 'monitora mine' 'nomonitora some' 'monitora ?' >/dev/null
claim "the titles" same 'selected mine left out some src of f' \
    "$(sed -n '/mine$/,/of f$/p' out | sed 4q | xargs)"
areas 'monitora src' 'nomonitora ?' >/dev/null
claim "by either command as well" same 'mine some selected src of f' \
    "$(sed -n '/mine$/,/of f$/p' out | sed 4q | xargs)"
claim "and selects nothing else" same 'f:3/3 g:4/4 main:1/10' "$(areas 'monitora src' 'nomonitora ?')"
areas 'monitora mine' 'nomonitora some' info >/dev/null
claim "INFO has them" grep -q '^areas  *mine$' out
claim "and those left out" grep -q '^not areas  *some$' out
areas 'monitora Mine' >/dev/null
claim "an unknown title" grep -Eq \
    'line 2: Mine: no such area \(the file has mine, some, src, of f\)$' err
echo 'initial-status on' >none.conf
claim "a file without areas" same 'no areas in none.conf' "$(echo 'monitora ?' | qprof pm --config=none.conf)"
claim "list without a file" sh -c "qprof list --area=mine c.qprof 2>&1 | grep -q 'missing --config=FILE'"
printf 'area mine include f\n' >bad.conf
claim "a mistake in the file" sh -c "qprof pm --config=bad.conf </dev/null 2>&1 | grep -q 'bad.conf:1:19: '"
claim "no such file of areas" sh -c "qprof pm --config=nosuch.conf </dev/null 2>&1 | grep -q 'nosuch.conf: no such file'"

# ---- running -----------------------------------------------------------------------------------------
claim "EXECUTE" pm 'pc real 3600000000 when score.f' '  -> *;' 'execute ./score main( f( %5 ) %6 )' list
claim "passes the settings on" grep -q '^PC samples: 11 occurred, 5 counted, 6 skipped' out
claim "with its pattern" grep -q '^WHEN score.f  *-> \*$' out
claim "a quoted word" pm "execute ./score 'main(' 4 ')'" 'calls' 'list'
claim "is one" grep -Eq '^  [^ ]+ +main +1 ' out

# ---- names -------------------------------------------------------------------------------------------
answers() { # PATTERN COMMAND: a message that fits
    pm "$2" && return 1
    grep -Eq -- "$1" err || { cat err; return 1; }
}
claim "an ambiguous name is rejected" answers 'line 1: p: ambiguous: PC, PROCEDURE' p # sampling 38
claim "so is L" answers 'L: ambiguous: LIST, LOAD' L
claim "so is MO" answers 'MO: ambiguous: MODULE, MONITORAREA, MONITORMODULE' MO
claim "a whole name is not ambiguous" pm pc
claim "unknown ones are rejected" answers 'frob: no such command; \? lists them' frob
claim "areas need a file" answers 'start with qprof pm --config=FILE' 'monitora mine'
claim "a mistake in PC has a column" answers 'PC: column 6: ' 'pc real 0'
claim "what is missing is reported" answers 'ADD: expected ADD FILE$' add
claim "what is too much is reported" answers 'QUIT takes no operand: now' 'quit now'
claim "LIST without statistics" answers 'no statistics; EXECUTE' list
claim "no such file" answers 'nothing.qprof: no such file' 'load nothing.qprof'
claim "? lists the commands" sh -c "echo '?' | qprof pm | grep -q '^NOMONITORMODULE'"
if command -v script >/dev/null; then
    claim "the shell's prompt does not follow ours" same '\n' \
        "$(script -qec 'qprof pm' /dev/null </dev/null | tail -c 1 | od -An -c | tr -d ' ')"
fi
claim "QUIT ends" sh -c "printf 'quit\nfrob\n' | qprof pm"
claim "names cannot break the terminal" sh -c "printf 'load \033[31m\n' | qprof pm 2>&1 | grep -qF 'x1B'"
finish
