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

# ---- running -----------------------------------------------------------------------------------------
claim "EXECUTE" pm 'pc real 3600000000 when score.f' '  -> *;' 'execute ./score main( f( %5 ) %6 )' list
claim "passes the settings on" grep -q '^Interrupts: 11 occurred, 5 counted, 6 skipped' out
claim "with its pattern" grep -q '^WHEN score.f  *-> \*$' out
claim "a quoted word" pm "execute ./score 'main(' 4 ')'" 'calls' 'list'
claim "is one" grep -Eq '^  [^ ]+ +main +1 ' out

# ---- names -------------------------------------------------------------------------------------------
answers() { # PATTERN COMMAND: a message that fits
    pm "$2" && return 1
    grep -Eq -- "$1" err || { cat err; return 1; }
}
claim "an ambiguous name is rejected" answers 'line 1: p may be PC, PROCEDURE' p # sampling 38
claim "L, too" answers 'L may be LIST, LOAD' L
claim "MO, too" answers 'MO may be MODULE, MONITORAREA, MONITORMODULE' MO
claim "a whole name is not ambiguous" pm pc
claim "unknown ones are rejected" answers 'frob: no such command; \? lists them' frob
claim "areas have an answer" answers 'profiles do not keep the areas' 'monitora all'
claim "a mistake in PC has a column" answers 'PC: column 6: ' 'pc real 0'
claim "what is missing is said" answers 'ADD FILE: what is missing' add
claim "what is too much is said" answers 'QUIT stands alone' 'quit now'
claim "LIST without statistics" answers 'there are no statistics' list
claim "no such file" answers 'nothing.qprof: there is no such file' 'load nothing.qprof'
claim "? lists the commands" sh -c "echo '?' | qprof pm | grep -q '^NOMONITORMODULE'"
claim "QUIT ends" sh -c "printf 'quit\nfrob\n' | qprof pm"
claim "names cannot break the terminal" sh -c "printf 'load \033[31m\n' | qprof pm 2>&1 | grep -qF 'x1B'"
finish
