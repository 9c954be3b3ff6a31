#!/bin/sh
# test_dataset_files.sh: -write-summary-file, -write-export-file and -save-thread-data, and these files in -run-at-save and
# -run-at-exit.
. "$(dirname "$0")/lib.sh"

# play OPTIONS WORDS...: play a score in an empty folder; what it prints is in ../out
play() {
    rm -rf "$work/files" && mkdir "$work/files" && cd "$work/files" || exit 1
    again "$@"
}
again() {
    again_options=$1
    shift
    QPROF="-filename-prefix=run.%n $again_options" ../score "$@" >../out 2>&1
}
files() { ls | grep -v '^claim.out$' | tr '\n' ' ' | sed 's/ $//'; }
exported() { qprof export --to=quantify "$@"; }
is_export() { exported "$2" | diff - "$1"; }
shown() { printf 'Summary by qprof\n' && qprof info "$1" && qprof report "$1"; }
is_summary() { shown "$PWD/$2" | diff - "$1"; }
lines() { n=$1 pattern=$2; shift 2; same "$n" "$("$@" | grep -c -- "$pattern")"; }
log() { qprof info "$1" | sed -n 's/.*the dataset not written: //p'; }

# ---- the two files ----------------------------------------------------------------------------------

play "" 'main(' ')'
claim "neither file is written by default" same run.0.qprof "$(files)"
play "-write-export-file=no -write-summary-file=no" 'main(' ')'
claim "nor with no" same run.0.qprof "$(files)"

play "-write-export-file -write-summary-file=yes" 'main(' 2 'f(' 3 ')' ')'
claim "yes: beside the dataset" same "run.0.qprof run.0.qs run.0.qx" "$(files)"
claim "the export of the tool" is_export run.0.qx run.0.qprof
claim "with the figures" lines 1 "^Function	f	score.src	1	3000	3000	3000	3000$" cat run.0.qx
claim "the summary of the tool" is_summary run.0.qs run.0.qprof
claim "with the totals" lines 2 "totals .* 2 calls of 2 functions on 1 thread, 5.000 us in all" cat run.0.qs
claim "for this user alone" same "-rw-------" "$(ls -l run.0.qx | cut -c 1-10)"
claim "and nothing is printed" same "" "$(cat ../out)"

play "-write-export-file=%v-%n.tab -api-handler-signals=sigusr1,sigusr2" 'main(' 'f(' ')' sig=10 for=score-0.tab 'f(' ')' ')'
claim "a name with conversions, of each dataset" same "run.0.qprof run.1.qprof score-0.tab score-1.tab" "$(files)"
claim "the first has what was called so far" lines 1 "^Caller	f	main	1	0$" cat score-0.tab
claim "the last has all" lines 1 "^Caller	f	main	2	0$" cat score-1.tab

play "-write-export-file=x -api-handler-signals=sigusr1,sigusr2" 'main(' 'f(' ')' sig=10 for=x 'f(' ')' ')'
claim "two datasets of a run do not share a name" same "run.0.qprof run.1.qprof x x.1" "$(files)"
claim "the first has its own" lines 1 "^Caller	f	main	1	0$" cat x
claim "so has the second" is_export x.1 run.1.qprof
again "-write-export-file=x" 'g(' ')'
claim "another run replaces a file" is_export x run.0.qprof
claim "one alone" same "run.0.qprof run.1.qprof x x.1" "$(files)"

play "-write-export-file=x -write-summary-file=y" 'main(' ')'
echo "my notes" >x
cp y z
again "-write-export-file=x -write-summary-file=run.0.qprof" 'main(' ')'
claim "another file is kept" same "my notes" "$(cat x)"
claim "the export has the next name" is_export x.1 run.0.qprof
claim "a profile is no summary" is_summary run.0.qprof.1 run.0.qprof

play "-write-export-file=%p.x -follow-child-processes" 'main(' fork 'f(' ')' ')'
claim "a forked child has its own" same 2 "$(ls | grep -c '[.]x$')"

(trap '' CHLD && play -write-export-file 'main(' ')')
cd "$work/files" || exit 1
claim "a program that ignores its children" is_export run.0.qx run.0.qprof

play "-write-export-file=\"a b'c\\\"\$x.qx\"" 'main(' ')'
claim "any name" is_export "a b'c\"\$x.qx" run.0.qprof

# ---- what cannot be written ---------------------------------------------------------------------------

play "-write-export-file=none/x -write-summary-file=none/y" 'main(' ')'
claim "no such folder" same run.0.qprof "$(files)"
claim "one line" same "qprof: export of the dataset not written: $PWD/none/x: its folder does not exist" \
    "$(sed 's/^qprof: summary/qprof: export/; s,none/y,none/x,' ../out)"
play "-write-export-file=%q" 'main(' ')'
claim "an unknown conversion" lines 1 "export of the dataset not written: .*unknown conversion %q" cat ../out

real=$PATH
mkdir "$work/bare"
PATH=$work/bare
export PATH
QPROF="-output=$work/files/no.qprof -write-export-file" "$work/score" 'main(' ')' >"$work/out" 2>&1
PATH=$real
claim "without the program qprof" \
    same "qprof: export of the dataset not written: $PWD/no.qx: the program qprof is not in PATH" "$(cat ../out)"
claim "the dataset is written" lines 1 '^main ' qprof report no.qprof
claim "nothing else" same "no.qprof run.0.qprof" "$(files)"

mkdir -p "$work/full"
printf '#!/bin/sh\nprintf half\necho "qprof export: No space left on device" >&2\nexit 2\n' >"$work/full/qprof"
chmod +x "$work/full/qprof"
PATH=$work/full:$real
play -write-export-file 'main(' ')'
PATH=$real
claim "a full disk leaves no part of a file" same run.0.qprof "$(files)"
claim "and a line with the reason" \
    same "qprof: export of the dataset not written: $PWD/run.0.qx: qprof export: No space left on device" "$(cat ../out)"
play "-write-export-file=none/x -quiet" 'main(' ')'
claim "no line with -quiet" same "" "$(cat ../out)"
play "-write-export-file=none/x -log-file=log" 'main(' ')'
claim "it is in the log" lines 1 "export of the dataset not written" cat log

play "-write-export-file" 'main(' 'f(' kill
claim "a killed program has none" same "" "$(files)"
qprof list-live --remove >/dev/null

# ---- threads ------------------------------------------------------------------------------------------

play "-write-export-file=x -save-thread-data=stack,composite" 'main(' 'f(' 3 ')' ')' thread 'other(' 5 ')'
claim "a file of each thread, and one of all" same "run.0.qprof x x.T1 x.T2" "$(files)"
claim "of all" is_export x run.0.qprof
claim "of the first" same "$(exported --thread=1 run.0.qprof)" "$(cat x.T1)"
claim "of the second" same "other" "$(sed -n 's/^Function	\([^	]*\).*/\1/p' x.T2)"
play "-write-export-file -write-summary-file -save-thread-data=stack" 'main(' ')' thread 'other(' 5 ')'
claim "of each thread alone" same "run.0.qprof run.0.qs.T1 run.0.qs.T2 run.0.qx.T1 run.0.qx.T2" "$(files)"
claim "the summary too" lines 0 "^main " cat run.0.qs.T2
claim "has its functions" lines 1 "^other " cat run.0.qs.T2
claim "the dataset has both" same "main other" \
    "$(qprof report --format=json run.0.qprof | jq -r '[.methods[].name] | sort | join(" ")')"
play "-write-export-file -save-thread-data=stack" 'main(' ')' thread '#0*1' thread 'other(' 5 ')'
claim "but not of a thread that called nothing, as in the list of threads" same "run.0.qprof run.0.qx.T1 run.0.qx.T3" "$(files)"
claim "which has the same two" same "1 3" "$(qprof report --threads run.0.qprof | awk '$1 ~ /^[0-9]+$/ { print $1 }' | xargs)"
play "-write-export-file -save-thread-data=composite" 'main(' ')' thread 'other(' 5 ')'
claim "composite is the default" same "run.0.qprof run.0.qx" "$(files)"
play "-save-thread-data=no" 'main(' ')'
claim "other values are refused" same "" "$(files)"
claim "with a line" lines 1 'save-thread-data=no: "no" is not one of stack|composite' cat ../out

# ---- commands -------------------------------------------------------------------------------------------

play '-write-export-file -write-summary-file "-run-at-save=echo %n %b %s %x %% >>done"' 'main(' ')'
claim "%s is the summary, %x the export" \
    same "0 $PWD/run.0.qprof $PWD/run.0.qs $PWD/run.0.qx %" "$(cat done)"
play '"-run-at-save=cp %x export && cp %s summary" "-run-at-exit=echo %x >name"' 'main(' 2 'f(' 3 ')' ')'
claim "without the options they are made for the command" is_export export run.0.qprof
claim "the summary too" is_summary summary run.0.qprof
claim "for both commands" lines 1 '[.]qx$' cat name
claim "and removed after them" same "export name run.0.qprof summary" "$(files)"
play '-write-export-file "-run-at-exit=cp %x export"' 'main(' ')'
claim "a file that was asked for stays" same "export run.0.qprof run.0.qx" "$(files)"
play '-write-export-file=none/x "-run-at-save=echo %x >>done"' 'main(' ')'
claim "without the file the command does not run" same run.0.qprof "$(files)"
play '-write-export-file=none/x "-run-at-save=echo %%x %b >>done"' 'main(' ')'
claim "unless it does not use it" same "%x $PWD/run.0.qprof" "$(cat done)"

play '"-run-at-save=date +%%H%q >>done" "-run-at-exit=echo 100% >>done" -log-file=log' 'main(' ')'
claim "a conversion that is none is named when the run begins" same \
    "qprof: -run-at-save: unknown conversion %q; the command does not run (%% is a percent sign)
qprof: -run-at-exit: unknown conversion % ; the command does not run (%% is a percent sign)" "$(cat ../out)"
claim "in the profile and the log too" same "2 2" \
    "$(qprof info run.0.qprof | grep -c 'unknown conversion') $(grep -c 'unknown conversion' log)"
claim "neither command runs" same "log run.0.qprof" "$(files)"
play '"-run-at-save=echo %%q %n >>done"' 'main(' ')'
claim "a percent sign is written twice, and needs no message" same "%q 0 " "$(cat done) $(cat ../out)"

# ---- coverage -----------------------------------------------------------------------------------------

${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$root/include" "$here/host.c" "$lib/libcprof.a" -lpthread -o ../covered || exit 1
play "" 'main(' ')'
CPROF="-filename-prefix=c.%n -write-export-file -write-summary-file -save-thread-data=stack" \
    ../covered 'main(' '#0*1' ')' >../out 2>&1
claim "the files of PureCoverage" same "c.0.pcs c.0.pcv c.0.pcx run.0.qprof" "$(files)"
claim "its export" same "$(qprof cover export --to=purecov c.0.pcv 2>/dev/null)" "$(cat c.0.pcx)"
claim "its summary" lines 1 "^score  *1 .* 100.0$" cat c.0.pcs
claim "of the run as well" lines 1 "state .*dataset 0" cat c.0.pcs
CPROF="-counts-file=all.pcv -write-export-file" ../covered 'main(' '#0*1' ')'
CPROF="-counts-file=all.pcv -write-export-file" ../covered 'main(' '#0*1' ')'
claim "the export of a counts file has all runs" lines 1 "^li	1	2$" cat all.pcx
finish
