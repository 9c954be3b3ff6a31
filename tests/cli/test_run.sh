#!/bin/sh
# test_run.sh: qprof run and qprof top: options, exit status, signals, programs that are killed,
# and programs that are watched.
. "$(dirname "$0")/lib.sh"

names() { qprof report --format=json "$1" | jq -r '.methods[].name' | sort | tr '\n' ' '; }
live_folder() { echo "$XDG_RUNTIME_DIR/qprof-$(id -u)"; }

claim "a run ends well" ends 0 qprof run -- ./score 'main(' 10 ')'
profile=$(ls score.*.qprof)
claim "its profile has the program's name and its id" sh -c "echo $profile | grep -Eqx 'score\.[0-9]+\.qprof'"
claim "standard output is the program's" same '' "$(cat out)"
claim "the table goes to standard error" grep -Eq '^main +1 ' err
claim "and the next command" grep -Fq "Next: qprof report $profile" err
claim "a command to copy" ends 0 qprof run -o "it's a run.qprof" -trace-output='a trace.qtrace' -- ./score 'main(' 10 ')'
claim "is quoted for a shell" same "qprof report 'it'\\''s a run.qprof'|qprof tree --hottest 'it'\\''s a run.qprof'|qprof trace stat 'a trace.qtrace'" \
    "$(sed -n '/^Next: /,/^$/s/^Next: \|^ *\(qprof [rt]\)/\1/p' err | head -3 | paste -sd '|')"
claim "and works there" sh -c "$(sed -n 's/^Next: //p' err)"
interval() { qprof info --format=json sampled.qprof | jq .run.pc_period_ns; }
claim "samples" ends 0 qprof run -o sampled.qprof -collect=profile,samples -- ./score 'main(' 10 ')'
claim "are of every ms" same 1000000 "$(interval)"
claim "samples at an interval" ends 0 qprof run -o sampled.qprof -collect=profile,samples --pc='VIRTUAL 20000' -- ./score 'main(' 10 ')'
claim "keep it" same 20000000 "$(interval)"
claim "also by QPROF" env QPROF='-pc=REAL' qprof run -o sampled.qprof -collect=profile,samples -- ./score 'main(' 10 ')'
claim "with its default" same 10000000 "$(interval)"
claim "the profile is sealed" same sealed "$(qprof info --format=json "$profile" | jq -r .run.state)"

claim "a name that begins with a hyphen" ends 0 qprof run -o -d.qprof -- ./score 'main(' 1 ')'
claim "is not an option in the next command" grep -Fqx "Next: qprof report ./-d.qprof" err
mkdir beside && mkfifo beside/a.qprof && mkdir beside/b.qprof
claim "beside a pipe and a folder" ends 3 qprof run -o beside/c.qprof -- ./score 'main(' 1 exit=3
claim "nothing is missed" same '' "$(grep -i 'not complete\|seek\|directory' err)"

# ---- a profile that goes to a pipe --------------------------------------------------------------
mkdir streams
calls() { qprof report --format=json "$1" | jq -c '[.methods[] | [.name, .calls]] | sort'; }
piped() { TMPDIR=$PWD/streams qprof run "$@"; }
TMPDIR=$PWD/streams qprof run -o - -- sh -c 'echo printed; ./score "main(" 10 "f(" 1 ")" ")" exit=3' >piped.qprof 2>printed
claim "the exit status is the program's" same 3 $?
claim "standard output is the profile" same '[["f",1],["main",1]]' "$(calls piped.qprof)"
claim "and nothing else" ends 0 qprof check piped.qprof
claim "what the program prints goes to standard error, without a report" same printed "$(cat printed)"
mkfifo pipe
timeout 60 cat pipe >from_pipe.qprof &
claim "a pipe" ends 0 piped -o pipe -- ./score 'main(' 'f(' 1 ')' ')'
wait
claim "... has the profile" same '[["f",1],["main",1]]' "$(calls from_pipe.qprof)"
timeout 60 cat pipe >killed.qprof &
claim "a program that is killed" ends 137 piped -o pipe -- sh -c './score "main(" "f(" 1 ")" kill'
wait
claim "... its calls too" same '[["f",1],["main",1]]' "$(calls killed.qprof)"
claim "a pipe without a reader" says 'pipe: no program reads this pipe' piped -o pipe -- touch began
claim "... is refused before the program starts" test ! -e began
claim "no file is left" same '' "$(ls streams)"
TMPDIR=$PWD/streams qprof run -o - -- sh -c './score "below(" 1 ")"; exec ./score "own(" 1 ")"' >own.qprof 2>err
claim "of several profiles it is the program's own" same '[["own",1]]' "$(calls own.qprof)"
rest=$(sed -n 's/^qprof run: - got one profile; what else this run writes is in //p' err)
claim "the others stay, where a line says" same '[["below",1]]' "$(calls "$rest/profile.qprof")"
rm -r "$rest"
TMPDIR=streams qprof run -o - -trace-mode=stream -- ./score 'main(' 1 ')' >traced.qprof 2>err
rest=$(sed -n 's/^qprof run: - got one profile; what else this run writes is in //p' err)
claim "a trace stays as well" same main "$(qprof trace stat --format=json "$rest"/*.qtrace | jq -r '.calls[].name')"
rm -rf streams/*
qprof run -o - -- sh -c 'echo printed; ./score "main(" 1 ")"' >closed.qprof 2>&-
claim "standard error is closed" same '[["main",1]]' "$(calls closed.qprof)"
claim "nothing was recorded" ends 2 piped -o - -- true
claim "a full device" says '/dev/full: No space left on device; the profile is still in .*streams/qprof-run' piped -o /dev/full -- ./score 'main(' 1 ')'
claim "... and there it is" same '[["main",1]]' "$(calls streams/*/profile.qprof)"

claim "the exit status is the program's" ends 3 qprof run -o three.qprof -- ./score 'main(' 1 exit=3
claim "its profile is there" ends 0 qprof check three.qprof
claim "-o names the profile" ends 0 qprof run -o 'a b%%.qprof' -- ./score 'main(' 1 ')'
claim "with its blanks and percent signs" test -f 'a b%.qprof'
claim "%p is the process id" ends 0 qprof run --output=x-%p.qprof -- ./score 'main(' 1 ')'
claim "so it is" sh -c "ls | grep -Eqx 'x-[0-9]+\.qprof'"

for name in first second; do
    claim "a trace is written" ends 0 qprof run -o traced.qprof -trace-output=run.qtrace -- ./score "$name(" 1 ')'
    claim "... the table says where" grep -Fqx "      qprof trace stat run.qtrace" err
    claim "... it is that of this run" same "$name" "$(qprof trace stat --format=json run.qtrace | jq -r '.calls[].name')"
    cp traced.qprof $name.qprof
done
claim "an earlier trace was replaced, and what is its own stays" same 'first.qprof run.qtrace second.qprof traced.qprof' \
    "$(echo first.* run.qtrace* second.* traced.*)"
claim "a trace that is not the profile's: it is named" sh -c \
    "qprof html --trace=run.qtrace first.qprof 2>&1 | grep -q 'run.qtrace: the trace of another run'"

echo 'action keep get-results exit : f' >keep.conf
claim "%n is the number of the dataset" ends 0 qprof run --config=keep.conf -o 'n-%n.qprof' -- ./score 'main(' 'f(' 1 ')' ')'
claim "the last one is shown" grep -Fq 'Next: qprof report n-1.qprof' err
claim "the other was saved before" test -f n-0.qprof
claim "%v, %t, %d: what only the program knows" ends 0 qprof run -o '[%v]*-%d-%t.qprof' -- ./score 'main(' 1 ')'
claim "is found" grep -Eq "Next: qprof report '\[score\]\*-[0-9]{6}-[0-9]{2}:[0-9]{2}\.qprof'$" err
cp n-1.qprof of-another.qprof
touch -d '1 hour' of-another.qprof
claim "its own is preferred to younger ones" ends 0 qprof run -o 'of-%v.qprof' -- ./score 'main(' 1 ')'
claim "by its process" grep -Fq 'Next: qprof report of-score.qprof' err

options() { qprof info --format=json "$1" | jq -r .run.options; }
claim "flags reach the recorder" ends 0 qprof run --time=none -o n.qprof -- ./score 'main(' 1 ')'
claim "time" same none "$(qprof info --format=json n.qprof | jq -r .run.time)"
claim "reads of the host's clock were not measured" same not-measured "$(qprof info --format=json n.qprof | jq -r .run.clock_reads)"
claim "in words" sh -c 'qprof info n.qprof | grep -q "clock reads  *not measured"'
claim "raw options do" ends 0 qprof run -collection-granularity=function --memory-limit=8M -o r.qprof -- ./score 'main(' 1 ')'
claim "granularity" same function "$(qprof info --format=json r.qprof | jq -r .run.granularity)"
claim "memory" same 8388608 "$(qprof info --format=json r.qprof | jq -r .run.memory_limit_bytes)"
claim "QPROF is kept" env QPROF=-time=none qprof run -o kept.qprof -- ./score 'main(' 1 ')'
claim "so it is" same none "$(qprof info --format=json kept.qprof | jq -r .run.time)"
claim "its name of the profile" env QPROF=-output=named.qprof qprof run -- ./score 'main(' 1 ')'
claim "is used" qprof check named.qprof
claim "and its prefix" env QPROF=-filename-prefix=pre-%v qprof run -- ./score 'main(' 1 ')'
claim "so it is" qprof check pre-score.qprof
ln -s named.qprof link.qprof
claim "a link is refused" says 'link.qprof: is a link .name the file' qprof run -o link.qprof -- ./score 'main(' 1 ')'
claim "a flag is stronger" env QPROF=-time=none qprof run --time=exact -o strong.qprof -- ./score 'main(' 1 ')'
claim "so it is" same exact "$(qprof info --format=json strong.qprof | jq -r .run.time)"

claim "a run with nothing but skips" ends 0 qprof run -record-data=no -o off.qprof -- ./score 'main(' 1 ')'
claim "says so" grep -q 'while recording was off; qprof report --show-skips' err

claim "no such program" says 'qprof run: ./nothing: no such program' qprof run -- ./nothing
claim "no program" says 'usage: qprof run' qprof run
mkdir -p folder
claim "no folder for the profile" says 'nowhere/: cannot write a profile there' qprof run -o nowhere/x.qprof -- ./score 'main('
claim "a folder in place of a profile" says 'folder: is a folder' qprof run -o folder -- ./score 'main('
mkdir gone
claim "a folder that was removed" says 'run: the current folder: No such file' sh -c 'cd gone && rmdir ../gone && qprof run -- true'
claim "the folder itself" says '\.: is a folder' qprof run -o . -- ./score 'main('
claim "no name" says 'is a folder \(use --output=FILE\)' qprof run -o '' -- ./score 'main('
claim "no conversion" says '%q is not a conversion' qprof run -o %q -- ./score 'main('
claim "a percent sign at the end" says 'is not a conversion' qprof run -o x% -- ./score 'main('
claim "an option with a slip" says 'similar: --time' qprof run --tmie=exact -- ./score
claim "a word of the command with one hyphen" says 'similar: --granularity' qprof run -granularity=line -- ./score
claim "a value that is none" says 'exact\|adaptive' qprof run -time=fast -- ./score
for pc in 'VIRTUAL -5' 'WHEN score.a->'; do
    claim "--pc=$pc is refused before the program runs" ends 2 qprof run --pc="$pc" -- touch ran
    claim "with its column" grep -q '^qprof run: --pc: column [0-9]*: ' err
    claim "for one reason" same 1 "$(grep -c '^qprof' err)"
    claim "and a caret" grep -q '^ *^$' err
    claim "and has not run" test ! -e ran
done
claim "a program that does not record" says 'no profile was written: .*qprof run -- qlua' qprof run -- true
claim "an old profile is not taken for its" says 'no profile was written' qprof run -o n.qprof -- true
claim "its own failure is handed on" ends 5 qprof run -- sh -c 'exit 5'
claim "the options are listed" sh -c "qprof run --options | grep -q '^--memory-limit='"

ignored='grep SigIgn /proc/self/status'
claim "signals that the tool ignores are the program's" same "$($ignored)" "$(qprof run -- $ignored 2>err)"
claim "also if they were ignored before" same "$(trap '' PIPE; $ignored)" "$(trap '' PIPE; qprof run -- $ignored 2>err)"

# ---- killed -------------------------------------------------------------------------------------
claim "a killed program" ends 137 qprof run -o killed.qprof -- ./score 'main(' 10 'f(' 5 ')' kill
claim "is reported as killed" grep -q 'killed by SIGKILL.*killed.qprof' err
claim "is shown" grep -Eq '^f +1 ' err
claim "its figures" same '[["main",1],["f",1]]' \
    "$(qprof report --format=json killed.qprof | jq -c '[.methods[] | [.name, .calls]]')"
claim "it is unsealed" same unsealed "$(qprof info --format=json killed.qprof | jq -r .run.state)"
claim "check passes" ends 0 qprof check killed.qprof
claim "a killed program's dataset" ends 137 qprof run --config=keep.conf -o 'k-%n-%v.qprof' -- ./score 'main(' 10 'f(' 5 ')' kill
claim "has the next number" grep -Fq 'saved what was recorded to k-1-score.qprof' err
echo mine > mine.qprof
claim "a first run" ends 0 qprof run -o again.qprof -- ./score 'main(' 'f(' ')' ')'
claim "a second one of that name" ends 0 qprof run -o again.qprof -- ./score 'main(' 'g(' ')' ')'
claim "is shown, not the first" grep -Eq '^g +1 ' err
claim "has its name" grep -q '(again.qprof)' err
claim "and replaces it" same again.qprof "$(echo again.qprof*)"
claim "a killed one of that name" ends 137 qprof run -o again.qprof -- ./score 'main(' 'h(' kill
claim "as well" same 'again.qprof h main ' "$(echo again.qprof* $(names again.qprof)) "
claim "a name that is taken" ends 137 qprof run -o mine.qprof -- ./score 'main(' kill
claim "is not overwritten" same mine "$(cat mine.qprof)"
claim "another is found" ends 0 qprof check mine.qprof.1

# ---- programs below the program -----------------------------------------------------------------
claim "a program below a wrapper" ends 0 qprof run -- env nice ./score 'wrapped(' 1 ')'
claim "has its own name" same 'wrapped ' "$(names "$(sed -n 's/.*Next: qprof report //p' err)")"
claim "several programs with one name" ends 0 qprof run -o several.qprof -- \
    sh -c "./score 'one(' 1 ')'; ./score 'two(' 1 ')'; ./score 'three(' 1 ')'; true"
claim "each have a profile" same 'one two three ' "$(for f in several.qprof several.qprof.1 several.qprof.2; do names $f; done | tr -d '\n')"
claim "the last one is shown" grep -Fq 'Next: qprof report several.qprof.2' err
for file in several.qprof several.qprof.1; do
    claim "$file is named" grep -Eq "another profile of this run, of process [0-9]+: $file\$" err
done
claim "another run of one program" ends 0 qprof run -o several.qprof -- ./score 'four(' 1 ')'
claim "replaces the first" same 'four ' "$(names several.qprof)"
claim "a report without a name shows the newest" grep -q '(several.qprof)' "$(qprof report >out && echo out)"
touch several.qprof.1
claim "by its content" grep -q '(several.qprof)' "$(qprof report >out && echo out)"
claim "a program that another one kills" ends 0 qprof run -o below.qprof -- sh -c "./score 'below(' 1 kill; ./score 'then(' 1 ')'"
claim "is saved" grep -Eq 'process [0-9]+ ended before its profile was complete; saved what was recorded to below.qprof.1' err
claim "with both profiles" same 'then below ' "$(names below.qprof)$(names below.qprof.1)"
claim "nothing is left" same '' "$(ls "$(live_folder)")"

# ---- live files ---------------------------------------------------------------------------------
listed() { # not those of other tests, which lie elsewhere
    qprof list-live --format=json |
        jq -c --arg folder "$(live_folder)" '[.profiles[] | select(.file | startswith($folder)) | [.state, .program]]'
}
claim "none" same '[]' "$(listed)"
claim "in words" sh -c 'qprof list-live 1 | grep -q "^No process is recording, and none has left a profile$"'
./score 'main(' wait 2>err &
program=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    qprof info "$program" >/dev/null 2>&1 && break
    sleep 0.2
done
./score 'left(' 1 kill 2>err &
left=$!
wait "$left"
claim "one that runs and one that was left" same '[["running","score"],["left","score"]]' "$(listed)"
claim "what was left is saved" sh -c "qprof list-live --save $left | grep -Eq '^score\.[0-9]+\.qprof: saved$'"
claim "not what runs" same '[["running","score"]]' "$(listed)"
claim "it is whole" same 'left ' "$(names "$(ls -t score.*.qprof | head -1)")"
./score 'left(' 1 kill 2>err &
left=$!
wait "$left"
claim "what runs is not removed" sh -c "qprof list-live --remove $program | grep -q '^No such process has left a profile$'"
claim "what was left is" sh -c "qprof list-live --remove $left | grep -q ': removed$'"
claim "not what runs" same '[["running","score"]]' "$(listed)"
./score 'left(' 1 kill 2>err &
left=$!
wait "$left"
live=$(ls "$(live_folder)"/$left.*)
printf damaged | dd of="$live" conv=notrunc 2>/dev/null
claim "a damaged one is listed" same '[["running","score"],["damaged",""]]' "$(listed)"
claim "it is not saved" ends 2 qprof list-live --save "$left"
claim "and what to do instead" grep -q 'is damaged, cannot be saved (qprof list-live --remove' err
claim "it can be removed" sh -c "qprof list-live --remove $left | grep -q ': removed$'"
claim "no id of a process" says 'score: expected the id of a process' qprof list-live score
claim "not both" says '--remove: cannot be combined with --save' qprof list-live --save --remove
kill "$program"
wait "$program"

# A disk of its own that is full: what was recorded stays where it is, and the message says why.
if unshare -m true 2>/dev/null; then
    mkdir full
    claim "a full disk is named" says '^qprof run: full/x.qprof: No space left on device; the profile is still in ' \
        unshare -m sh -c 'mount -t tmpfs -o size=4k none full && qprof run -o full/x.qprof -- ./score "main(" ")"'
    rm "$(sed -n 's/.* is still in //p' err)"
fi

# ---- signals, live ------------------------------------------------------------------------------
qprof run -o live.qprof -- ./score 'main(' wait 2>run.err &
runner=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    program=$(ps -o pid= --ppid "$runner" 2>/dev/null | tr -d ' ')
    [ -n "$program" ] && qprof info "$program" >/dev/null 2>&1 && break
    sleep 0.2
done
claim "a process is read while it runs" ends 0 qprof report "$program"
claim "which is reported" grep -q 'still running' out
claim "check passes on it" ends 0 qprof check "$program"
claim "top shows it" ends 0 qprof top --count=2 --interval=0.2 "$program"
claim "twice" same 2 "$(grep -c 'calls/s, ' out)"
claim "what it calls" grep -Eq ' beat ' out
(sleep 0.7; kill -TERM "$runner") &
claim "top ends with the process" ends 0 timeout 20 qprof top --count=1000 --interval=0.2 "$program"
claim "and says so" grep -q "Process $program has ended" out
wait "$runner"
claim "a signal to run reached the program" same 143 $?
claim "and its profile was saved" ends 0 qprof check live.qprof
claim "top of a process that has ended" ends 2 qprof top "$program"
killed=$(qprof info --format=json killed.qprof | jq .run.pid)
claim "what was saved is not kept twice" same '' \
    "$(ls "$(live_folder)" 2>/dev/null | grep -E "^($program|$killed)\.")"
finish
