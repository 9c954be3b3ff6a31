#!/bin/sh
# test_config.sh tests src/cli/config*.c: `qprof config check|show|apply`, and --config of run.
. "$(dirname "$0")/lib.sh"

# ---- check ------------------------------------------------------------------------------------

cat >good.conf <<'END'
-record-min-max=yes
initial-status off
trigger "load phase" on pass=1 work=3 : Loader.read Loader.parse !Loader.close
action  snap get-results exit : Server.request_done
area    core include lines : class:Server file:src/queue.scr
event-trigger late event=40001 context=any-task action=start disable=yes chain=next
event-trigger next event=fn-exit object=glob:f* status=disabled longer=5ms deferred=no
triggering on
pc REAL 5000 WHEN Server.main -> * -> Queue.pop;
trace OPERATIONMODE=1025
END
qprof config check good.conf >out 2>err
claim "a good file has no mistakes" [ $? = 0 ]
claim "what is in it is counted" grep -qx \
    "good.conf: no mistakes, 1 trigger, 1 action, 1 area, 2 event triggers, 1 line of options" out
claim "there is nothing to remark" [ ! -s err ]

# refused LINE:COLUMN WORDS: the file "bad.conf" has that mistake, and only that
refused() {
    qprof config check bad.conf >out 2>err
    claim "$1 $2: exit status 1" [ $? = 1 ]
    claim "$1 $2: reported with its place" grep -qF "bad.conf:$1: $2" err
    claim "$1 $2: a message, the line, a caret" [ "$(wc -l <err)" = 3 ]
    claim "$1 $2: nothing else is printed" [ ! -s out ]
}
printf 'trigger a on : f\ntrigger b on pass=x : f\n' >bad.conf
refused 2:14 "x: expected a whole number"
printf 'event-trigger a event=any\nevent-trigger a event=any\n' >bad.conf
refused 2:15 "a: this name is already used for this kind of object"
printf 'event-trigger a event=any chain=b\n' >bad.conf
refused 1:27 "chain=b: no such event trigger"
printf 'area x checked=no\n' >bad.conf
refused 1:6 "x: no such area"
printf 'area all-lines include : f\n' >bad.conf
refused 1:6 "all-lines: this area exists"
printf -- '-clock=elapsed\n-clock=sundial\n' >bad.conf
refused 2:1 "-clock=sundial"
seq -f 'event-trigger t%.0f event=any' 51 >bad.conf
refused 51:15 "t51: more than 50 event triggers are enabled"
printf 'trace TIMELINE=0 COLOUR=1\n' >bad.conf
refused 1:18 "COLOUR: expected one of OPERATIONMODE"
claim "to the last of them" grep -q " OUTFILE$" err
printf 'pri missing.pri\n' >bad.conf
refused 1:5 "missing.pri: no such file"
printf 'COLOR=1\n\nno value\n' >bad.pri
printf '# the settings\n  pri bad.pri\n' >bad.conf
refused 2:7 "bad.pri:3: KEY=VALUE is expected"
printf 'triggering on # yes\n-time=none -pri=missing.pri\n' >bad.conf
refused 2:12 "missing.pri: no such file"
printf 'triggering on\n-time=none -clock=64k-aliasing\n' >bad.conf
refused 2:12 "-clock: counter not supported: Linux has none of that kind"
printf -- '-pc="REAL 10 WHEN"\n' >bad.conf
refused 1:1 "-pc: column 13:"
printf 'area a include : routine:at: bogus:\n' >bad.conf
refused 1:30 "bogus:: expected module:X, file:X, class:X, routine:X"
printf 'triggering on\n-config=other.conf\n' >bad.conf
refused 2:1 "-config: not inside a configuration file"
printf '# a byte 0 \000 in a comment\nnonsense\n' >bad.conf
refused 2:1 "nonsense: expected -name=value"
printf 'event-trigger "\033[31mx" event=\n' >bad.conf
qprof config check bad.conf >out 2>err
claim "a name steers no terminal" sh -c '! grep -q "$(printf "\033")" err'

printf 'initial-status off\ntrigger t off : f\nevent-trigger e event=any\n-no-such=1\n' >odd.conf
qprof config check odd.conf >out 2>err
claim "an oversight is not an error" [ $? = 0 ]
claim "but remarked: never on" grep -q "profiling may be off for the whole run" err
claim "but remarked: never triggering" grep -q "triggering on" err
claim "but remarked: unknown options" grep -q "no-such: unknown option" err
# may_be_off CLAIM YES|NO LINES: is it remarked, where threads begin disabled?
may_be_off() {
    printf "initial-status off\n$3" >odd.conf
    qprof config check odd.conf >/dev/null 2>err
    claim "$1" [ "$(grep -c "may be off for the whole run" err)" = "$2" ]
}
may_be_off "an on-trigger without a checked routine enables nothing" 1 \
    'trigger a on : !f\ntrigger b off : g\n'
may_be_off "areas alone leave all threads enabled" 0 'area x include : f\n'
may_be_off "so do triggers that are not checked" 0 'trigger a off checked=no : f\n'
may_be_off "an action enables threads" 0 'trigger a off : f\naction b enable exit : g\n'

echo 'initial-status off' >odd.conf
qprof config check odd.conf >/dev/null 2>err
claim "alone it does nothing, and that is remarked" grep -q 'initial-status off does nothing' err

qprof config check /dev/null >out
claim "/dev/null is an empty file" grep -qx "/dev/null: no mistakes" out
qprof config check missing.conf 2>err
claim "a missing file is unusable" [ $? = 2 ]
mkdir folder
qprof config check folder 2>err
claim "a folder is unusable" [ $? = 2 ]

# ---- show -------------------------------------------------------------------------------------

qprof config show good.conf >out
claim "ids are not set" [ "$(grep -c '^not set' out)" = 2 ]
claim "what threads begin with is shown" [ "$(head -1 out)" = "initial-status off" ]
claim "triggers are listed" grep -q "^trigger *load phase *on, pass 1, work 3" out
claim "options are listed" grep -qx -- "-record-min-max=yes" out
claim "the PC command is listed" grep -qx "pc REAL 5000 WHEN Server.main -> \* -> Queue.pop;" out
claim "settings of the trace are listed" grep -qx "trace OPERATIONMODE=1025" out
claim "routines are listed by name" same "Loader.read Loader.parse !Loader.close" \
    "$(grep -o '!*Loader\.[a-z]*' out | xargs)"
claim "elements are listed with their kinds" same "class:Server file:src/queue.scr" \
    "$(grep -oE '(class|file):[^ ]*$' out | xargs)"
printf '# the settings\nHUMANREADABLE=1\n' >good.pri
printf 'pri good.pri # here\n-time=none \\\n  -collect=stack # here\n' >lines.conf
qprof config show lines.conf >lines
claim "a file of settings is listed, and an option line of two lines as one" same \
    "pri good.pri -time=none -collect=stack" "$(sed -n '1,2p' lines | xargs)"
printf 'area all-lines checked=no\narea all-routines checked=yes parameters=no\n' >areas.conf
printf 'area a include parameters=yes : f\narea b exclude : g\narea b checked=no\narea c include : h\n' >>areas.conf
printf 'area c parameters=yes\narea a parameters=no\n' >>areas.conf
qprof config show areas.conf >areas
claim "settings of predefined areas are listed" same \
    "area all-lines checked=no area all-routines parameters=no checked=yes" "$(sed -n '1,2p' areas | xargs)"
claim "areas are listed as the last line about them has them" same \
    "a include, lines yes f b exclude no g c include, lines, parameters yes h" \
    "$(sed -n 's/^area  *\([abc] \)/\1/p' areas | xargs)"
claim "event triggers are listed" grep -q "late *40001 *enabled *any-task *any *no *start" out
claim "the footer is below" \
    [ "$(tail -1 out)" = "enabled 1 of 50, triggering on, dropped 0" ]

# ---- run --------------------------------------------------------------------------------------

printf 'trigger t on : f\nnonsense\n' >bad.conf
qprof run --config=bad.conf -- touch began 2>err
claim "a mistake is found before the program runs" [ ! -e began ]
claim "and named" grep -q "bad.conf:2:1: nonsense" err
printf 'trigger t off : g\n' >off.conf
QPROF="-output=narrow.qprof -config=off.conf" ./score "f(" "g(" "h(" ")" ")" "h(" ")" ")"
claim "a run is narrowed" [ "$(qprof report --format=json narrow.qprof |
    jq -c '.methods[] | select(.name == "h") | [.calls, .hits, .skips]')" = "[2,1,1]" ]

printf 'area a include : bogus:x\n' >nothing.conf
QPROF="-output=nothing.qprof -config=nothing.conf -log-file=log" ./score "f(" 7 ")" 2>err
claim "a run none of whose methods is in an area says so" same \
    "qprof: no profile: no method that was called is in an area" "$(cat err)"
claim "in the log too" grep -q "no profile: no method that was called is in an area" log
claim "and which name has fitted no method" grep -q "bogus:x" log
claim "it writes no profile" [ ! -e nothing.qprof ]
QPROF="-output=nothing.qprof -config=nothing.conf" ./score 2>err
claim "a run without calls has no message" same "" "$(cat err)"
QPROF="-output=none.qprof -config=/dev/null" ./score "f(" 7 ")" 2>err
claim "a run takes /dev/null as an empty configuration" same "f 1 7000" \
    "$(qprof report --format=json none.qprof | jq -r '.methods[] | "\(.name) \(.calls) \(.self)"')"
claim "without a message" [ ! -s err ]
printf 'area r include routines : g\narea l include : f\n' >levels.conf
QPROF="-output=levels.qprof -config=levels.conf" ./score "f(" "g(" ")" ")"
claim "the type of measurement is that of the area" same "Line Function" \
    "$(qprof report --format=json levels.qprof |
        jq -r '[.methods[]] | sort_by(.name)[] | .type' | xargs)"

# ---- apply ------------------------------------------------------------------------------------

# start OPTIONS: a program that has entered f, and plays on; its id is in pid
start() {
    QPROF="$1" ./score "f(" wait &
    pid=$!
    for _ in $(seq 100); do
        qprof report $pid >out 2>/dev/null && grep -q "^f " out && break
        sleep 0.1
    done
}

qprof config apply 0 good.conf 2>err
claim "0 is no process" grep -q "0: expected the id of a process" err
qprof config apply $$ off.conf 2>err
claim "a process that does not record cannot be asked" [ $? = 2 ]

start "-output=live.qprof -apply"
# beats: how often the running program has recorded the call that it makes again and again
beats() { qprof report --format=json $pid | jq '[.methods[] | select(.name == "beat") | .hits] | add // 0'; }
# still_rises: does that number still rise?
still_rises() {
    before=$(beats)
    for i in $(seq 100); do
        [ "$(beats)" -gt "$before" ] && return
        sleep 0.02
    done
    return 1
}
does_not_grow() {
    sleep 0.05 # a call that had begun ends
    before=$(beats)
    sleep 0.3
    same "$before" "$(beats)"
}
claim "all is recorded at first" still_rises
printf 'area some include : f\n' >narrow.conf
qprof config apply $pid narrow.conf >out 2>err
claim "a running program takes a file" [ $? = 0 ]
claim "and says so" grep -q "narrow.conf: applied in process $pid" out
claim "what is outside of the areas is not recorded any more" does_not_grow
printf 'area all include : f beat\n' >all.conf
qprof config apply $pid all.conf >out 2>err
claim "another file takes its place, and all is recorded" still_rises
printf 'trigger quiet off : f beat\n' >quiet.conf
qprof config apply $pid quiet.conf >out 2>err
claim "a trigger can stop it" does_not_grow
printf 'area all include : beat\n-time=none\n' >late.conf
qprof config apply $pid late.conf 2>err
claim "options are too late" [ $? = 1 ]
claim "why is printed" grep -q "late.conf:2:1: options must come between" err
qprof config apply $pid bad.conf 2>err
claim "a bad file is not handed in" grep -q "bad.conf:2:1: nonsense" err
claim "what was in force still is" does_not_grow
printf 'event-trigger seen event=fn-entry object=beat disable=yes\ntriggering on\n' >seen.conf
qprof config apply $pid seen.conf >out 2>err
claim "the trigger is gone with its file" still_rises
claim "an event trigger fires" [ "$(qprof info --format=json $pid |
    jq '[.marks[] | select(.name == "seen")] | length')" = 1 ]
for i in $(seq 20); do # again if the thread that answers was stopped while it was not waiting
    kill -STOP $pid
    qprof config apply $pid all.conf 2>err &
    asking=$!
    sleep 0.2 # as a rule it has asked by then
    grep -q "did not answer" err || break
    kill -CONT $pid
    wait $asking
done
kill -9 $pid
wait $pid 2>/dev/null
wait $asking
claim "a program that ends meanwhile has ended" \
    grep -q "ended before it answered\|no such process" err

start "-output=deaf.qprof"
qprof config apply $pid quiet.conf 2>err
claim "a program that was not started so gives no answer" [ $? = 2 ]
claim "and the hint is there" grep -q "start it with -config=FILE or -apply" err
kill -9 $pid
wait $pid 2>/dev/null

finish
