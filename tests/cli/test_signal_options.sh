#!/bin/sh
# test_signal_options.sh: -save-data-on-signals, -handle-signals, -ignore-signals and -api-handler-signals, and commands
# after the last save.
. "$(dirname "$0")/lib.sh"

# play OPTIONS WORDS...: play a score; its status is in $status, its datasets are run.N.qprof
play() {
    rm -f run.* done
    options=$1
    shift
    status=0
    QPROF="-filename-prefix=run.%n $options" ./score "$@" >out 2>&1 &
    pid=$!
    wait $pid || status=$?
}
datasets() { ls | grep -c '^run\..*qprof$'; }
lines() { n=$1 pattern=$2; shift 2; same "$n" "$("$@" | grep -c "$pattern")"; }
calls() { qprof report --format=json "run.$1.qprof" | jq -c '[.methods[] | {(.name): .calls}] | add'; }

play "" 'main(' 'f(' sig=15
claim "without the option a signal ends the program" same 143 "$status"
claim "and no dataset is saved" same 0 "$(datasets)"

play -save-data-on-signals 'main(' 'f(' ')' 'f(' sig=15
claim "with it the signal still ends the program" same 143 "$status"
claim "a dataset is saved" same '{"f":2,"main":1}' "$(calls 0)"
claim "that says why" lines 1 'saved on signal SIGTERM' qprof info run.0.qprof
claim "nothing is left to be saved" same 1 "$(datasets)"
claim "no live file either" same '' "$(qprof list-live | grep "^ *$pid ")"

play -save-data-on-signals 'main(' 'f(' sig=11
claim "a fault" same 139 "$status"
claim "is saved" same '{"f":1,"main":1}' "$(calls 0)"

play "-save-data-on-signals -ignore-signals=sigterm,sigint" 'main(' sig=15
claim "a signal that is left alone ends the program" same "143 0" "$status $(datasets)"

play "-save-data-on-signals -handle-signals=sigusr1" 'main(' sig=10
claim "a further signal is saved" same "138 1" "$status $(datasets)"

play -save-data-on-signals own=15 'main(' sig=15
claim "a signal with a handler of the host is the host's" same "40 0" "$status $(datasets)"
play "-save-data-on-signals -handle-signals=sigterm" own=15 'main(' sig=15
claim "unless it is named: then it is saved, and the host's handler is called" \
    same "40 handled 1" "$status $(cat out) $(datasets)"
play -save-data-on-signals 'main(' own=15 sig=15
claim "a handler that the host installs later replaces the recorder's" same "40 0" "$status $(datasets)"

play -api-handler-signals=sigusr1,sigusr2 'main(' 'f(' ')' sig=10 for=run.0.qprof ')'
claim "a save that a signal asks for does not end the program" same 0 "$status"
claim "it has what was called so far" same '{"f":1,"main":1}' "$(calls 0)"
claim "the last dataset follows" same 2 "$(datasets)"
play -api-handler-signals=sigusr1,sigusr2 'main(' 'f(' ')' sig=12 nap 'g(' ')' ')'
claim "a clear" same '{"g":1}' "$(calls 0 | jq -c 'with_entries(select(.value > 0))')"

play -api-handler-signals=sigusr1,sigkill 'main(' ')'
claim "a signal that cannot be handled is refused" same 0 "$(datasets)"
claim "with the names that can" lines 1 'sigkill.*SIGUSR1' cat out

play '"-run-at-save=echo %n >>done" "-run-at-exit=echo end >>done"' 'main(' ')'
claim "-run-at-save is for the last dataset too" same "0 end" "$(tr '\n' ' ' <done | sed 's/ $//')"

play '-save-data-on-signals "-run-at-save=echo %n >>done" "-run-at-exit=cat %x >export"' 'main(' 'f(' ')' sig=15
claim "both commands run where a signal ends the program" same "143 0" "$status $(cat done)"
claim "-run-at-exit for the dataset that was saved then" lines 1 '^Caller	f	main	1	0$' cat export
rm -f export
play '-save-data-on-signals -handle-signals=sigterm "-run-at-save=echo %n >>done" "-run-at-exit=echo end >>done"' \
    own=15 'main(' sig=15
claim "a program with a handler may continue: then there was a save alone" same "40 0" "$status $(cat done)"
play '-api-handler-signals=sigusr1 "-run-at-save=echo %n >>done" "-run-at-exit=echo end >>done"' 'main(' sig=10 for=done ')'
claim "a save that a signal asks for is no end" same "0 1 end" "$(xargs <done)"

play "-call-trace -output=run.0.qprof" 'main(' 'f(' ')' ')'
claim "-call-trace writes each call" lines 2 entry qprof trace dump run.0.qtrace
finish
