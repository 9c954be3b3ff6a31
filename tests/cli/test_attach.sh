#!/bin/sh
# test_attach.sh: `qprof run --pid`: a process that records is sampled through its live profile. How
# many samples there are depends on the machine; where they are does not.
. "$(dirname "$0")/lib.sh"

pid=
trap 'kill $pid 2>/dev/null; rm -rf "$work"' EXIT
begin() { # WORDS...: play until killed
    QPROF="-output=live.qprof $1" ./score 'main(' 'f(' wait &
    pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10; do
        qprof report $pid --format=json 2>/dev/null | grep -q '"beat"' && return
        [ "$1" = -collect=stack ] && qprof info $pid >/dev/null 2>&1 && return
        sleep 0.1
    done
}
end() {
    kill $pid
    wait $pid 2>/dev/null
}
stacks() {
    qprof tree --format=json out.qprof |
        jq -r '. as $m | [.nodes[] | select(.method > 0) | $m.methods[.method].name] | unique | join(" ")'
}
deep() { jq -r --arg name "$1" '.summary.counted as $n | .rows[] | select(.procedure == $name) | .deep == $n' list.json; }

# sample WORDS...: into out.qprof, which is taken away before: nothing is overwritten
sample() {
    rm -f out.qprof
    qprof run --pid $pid "$@" -o out.qprof
}

for mode in -time=exact -collect=stack -time=none; do
    begin "$mode"
    claim "$mode: a profile is made" sample --for 300ms --pc 'REAL 5000'
    end
    claim "$mode: it is sound" qprof check out.qprof
    qprof list --format=json out.qprof >list.json
    claim "$mode: with PC samples" test "$(jq .summary.counted list.json)" -gt 5
    claim "$mode: main was always active" same true "$(deep main)"
    claim "$mode: f was always active" same true "$(deep f)"
    claim "$mode: nothing else was" sh -c "case '$(stacks)' in 'beat f main' | 'f main') ;; *) exit 1 ;; esac"
    claim "$mode: torn samples are not shown" same 0 "$(jq '.summary.foreign' list.json)"
done
for mode in -time=exact -collect=stack -time=none; do
    QPROF="-output=live.qprof $mode" ./score 'main(' 'f(' still &
    pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10; do
        qprof info $pid >/dev/null 2>&1 && break
        sleep 0.1
    done
    sleep 0.2
    claim "$mode: one that waits" ends 0 sample --for 200ms
    claim "$mode: there is nothing to sample by CPU time" grep -Fqx "qprof run: process $pid used less than 10000 us of CPU time in each thread: there are no samples; --pc=REAL samples it while it waits" err
    claim "$mode: it waits in f" same 'qprof run: thread 1 waits in f (score.src:11), called by main' "$(grep 'waits in' err)"
    claim "$mode: with REAL" ends 0 sample --for 200ms --pc=REAL
    claim "$mode: there are samples instead" sh -c '! grep -q "waits in" err'
    end
done

# A process that sleeps uses no CPU time.
begin -collect=stack
claim "by CPU time" sample --for=300ms --pc='VIRTUAL 100000'
claim "nothing is found in one that sleeps" same 0 "$(qprof list --format=json out.qprof | jq .summary.counted)"
for path in . nowhere/out.qprof; do
    began=$(date +%s)
    claim "no measurement is lost to -o $path" ends 2 qprof run --pid $pid --for 20s -o "$path"
    claim "it is refused before" test $(($(date +%s) - began)) -lt 15
done
claim "an interval that is too short" ends 0 sample --for 200ms --pc 'REAL 10'
claim "is raised, and reported" grep -q -- '--pc=REAL 10: raised to the shortest interval, 50 us' err
claim "and counted" same 1 "$(qprof info --format=json out.qprof | jq .diagnostics.clamped_options)"
claim "a pattern" sample --for 200ms --pc 'REAL 5000 WHEN score.main;'
claim "is the profile's own" same 'score.main' "$(qprof list --format=json out.qprof | jq -r .summary.pattern)"
cp out.qprof again.qprof
claim "an earlier profile of that name" qprof run --pid $pid --for 100ms -o again.qprof
claim "is replaced" sh -c '! cmp -s out.qprof again.qprof && qprof check again.qprof && test ! -e again.qprof.1'
mkdir unnamed
claim "without a name" sh -c "cd unnamed && qprof run --pid $pid --for 100ms && qprof run --pid $pid --for 100ms"
claim "each has one of its own" same "attach.$pid.qprof attach.$pid.qprof.1" "$(cd unnamed && echo *)"
claim "top says how to sample it" sh -c "qprof top $pid | grep -q 'qprof run --pid=$pid'"
claim "and whether it is at work" sh -c "qprof top $pid | grep -q '^1 of 1 thread at work'"
claim "a report says why it is empty, and what to do" sh -c \
    "qprof report $pid | grep -q '^Only the stack is published: qprof run --pid'"
claim "so does a list" says "$pid: only the stack is published: qprof run --pid=$pid samples it" \
    qprof list $pid
end
for mode in '-collect=samples -pc=REAL' -collect=coverage; do
    begin "$mode"
    claim "$mode: top does not know who is at work" sh -c "qprof top $pid | grep -Eq '(^|, )1 thread\$'"
    end
done

# Native code of what only publishes its stack is foreign, as in its own samples.
QPROF='-output=live.qprof -collect=stack' ./score 'main(' '<(' wait &
pid=$!
sleep 0.2
claim "in native code" sample --for 200ms --pc 'REAL 5000'
end
claim "PC samples are foreign" same 'main 0 true' "$(qprof list --format=json out.qprof |
    jq -r '[(.rows[] | "\(.procedure) \(.shallow)"), .summary.foreign == .summary.counted] | join(" ")')"

# qlua that samples itself walks its own stack when it is due, and keeps none.
if command -v qlua >/dev/null; then
    QPROF='-output=live.qprof -collect=samples' qlua -e 'while true do string.rep("x", 9) end' &
    pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10; do
        qprof info $pid >/dev/null 2>&1 && break
        sleep 0.1
    done
    claim "what shows no stack" ends 0 sample --for 300ms --pc 'REAL 5000'
    claim "is named" grep -q "process $pid samples itself and does not publish its stack: all" err
    claim "with what to do" grep -q "with qprof list $pid, or start it with -collect=stack" err
    claim "the profile says so as well" sh -c "qprof info out.qprof | grep -q 'message  *the process showed no stack'"
    end
fi

# ---- mistakes ----------------------------------------------------------------------------------------
claim "a process that has ended" says "process $pid: no such process" qprof run --pid $pid
claim "one that does not record" says "process $$: it is not recording: it has no live profile" qprof run --pid $$
claim "no process at all" says '--pid=x: expected the id of a process' qprof run --pid x
claim "a negative one" says '--pid=-5: expected the id of a process' qprof run --pid=-5
claim "no time" says '--for=soon: expected a time: 10s, 500ms or 2m' qprof run --pid 1 --for soon
claim "a mistake in the command" ends 2 qprof run --pid 1 --pc 'REAL 0'
claim "has its column" grep -q -- '^qprof run: --pc: column 6: 0: ' err
claim "has a caret" same '       ^' "$(tail -1 err)"
claim "a program besides" says 'cannot be combined with --pid' qprof run --pid 1 -- ./score
for word in --time=none --granularity=line --clock=user -memory-limit=1G; do
    claim "$word besides" says "${word%%=*}.*: cannot be combined with --pid" \
        qprof run --pid 1 $word
done
claim "a time for a program" says '--for=5s: requires --pid ' qprof run --for 5s -- ./score 'f()'
claim "does not run it" test -z "$(ls score.*.qprof 2>/dev/null)"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    begin -collect=stack
    chmod 711 . "$bin"/qprof 2>/dev/null
    cp "$bin/qprof" /tmp/qprof-$$ && chmod 755 /tmp/qprof-$$
    claim "another user's: what the system says" says "process $pid: /dev/shm/qprof-0: Permission denied" \
        setpriv --reuid=65534 --clear-groups /tmp/qprof-$$ run --pid $pid
    rm -f /tmp/qprof-$$
    end
fi
finish
