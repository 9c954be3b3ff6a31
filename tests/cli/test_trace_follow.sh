#!/bin/sh
# test_trace_follow.sh: qprof trace dump -f goes along with a program, by its trace or by its process
# id, and ends with it; of a program that was killed nothing is missing.
. "$(dirname "$0")/lib.sh"
about() { about=$1; }
# check ACTUAL = EXPECTED
check() { claim "$about" same "$3" "$1"; }
[ -x "$bin/qlua" ] || { echo "qlua is not built"; exit 77; }
lines() { grep -c "$@"; }
# records FILE: what happened, without times: those of a program that runs are not final
records() { sed 's/^ *[0-9.]* ms//' "$1"; }
# wait_for TEXT FILE: at most 10 s
wait_for() {
    i=0
    until grep -q "$1" "$2" 2>/dev/null || [ $((i += 1)) -gt 100 ]; do sleep 0.1; done
}
wait_for_rings() {
    i=0
    until qprof trace stat $host >/dev/null 2>&1 || [ $((i += 1)) -gt 100 ]; do sleep 0.1; done
}

# wait_for_written FILE: a trace in which there is a call
wait_for_written() {
    i=0
    until qprof trace dump "$1" 2>/dev/null | grep -q entry || [ $((i += 1)) -gt 100 ]; do sleep 0.1; done
}

# 40 times step, each with 2 calls of tick; continues when the file `on` exists, and then ends.
cat >steps.lua <<'END'
local function tick(n) return n end
local function step() return tick(1) + tick(2) end
local function pause() return io.open("on") end
for i = 1, 40 do
    if i == 20 then repeat os.execute("sleep 0.05") until pause() end
    step()
end
if arg[1] then os.execute("kill -9 $PPID") end
END

# followed_to_the_end FOLLOWED FILE: the reader has read up to the pause; the program plays on and ends, and
# the reader has all records of FILE then
followed_to_the_end() {
    check "$(lines 'entry.* step$' "$1")" = 19
    touch on
    wait $reader
    check $? = 0
    check "$(cat error)" = ""
    wait $host
    qprof trace dump "$2" >whole
    records "$1" >followed.records
    records whole | cmp - followed.records
    check $? = 0
}

about "a trace is followed while it is written, to its end"
QPROF="-output=s.qprof -collect=profile,trace -trace-output=s.qtrace" qlua steps.lua &
host=$!
wait_for QTRACE s.qtrace
timeout 60 qprof trace dump -f s.qtrace >followed 2>error &
reader=$!
wait_for pause followed
followed_to_the_end followed s.qtrace
check "$(lines 'entry.* tick$' whole)" = 80

about "... the rings of a process"
rm on
QPROF="-output=p.qprof -collect=profile,trace" qlua steps.lua &
host=$!
wait_for_rings
timeout 60 qprof trace dump -f $host >followed2 2>error &
reader=$!
wait_for pause followed2
followed_to_the_end followed2 p.qprof

about "... a program that is killed"
rm on
QPROF="-output=k.qprof -collect=profile,trace" qlua steps.lua killed &
host=$!
wait_for_rings
timeout 60 qprof trace dump -f $host >followed3 2>error &
reader=$!
wait_for pause followed3
touch on
wait $reader
check $? = 0
wait $host
check "$(lines 'entry.* step$' followed3)" = 40
check "$(tail -n 1 followed3 | awk '{ print $4, $5 }')" = "entry os.execute"
check "$(qprof trace stat --format=json $host 2>error | jq '.calls[]|select(.name=="tick")|.calls')" = 80

about "what a killed program had not written to its trace is in its rings"
rm on
QPROF="-output=j.qprof -collect=profile,trace -trace-output=j.qtrace" qlua steps.lua killed &
host=$!
wait_for QTRACE j.qtrace
timeout 60 qprof trace dump -f j.qtrace >followed4 2>error &
reader=$!
wait_for pause followed4
wait_for_written j.qtrace
touch on
wait $reader
check $? = 0
check "$(lines 'was killed' error)" = 1
wait $host
qprof trace stat j.qtrace >stat 2>error
left=$(sed -n 's/.*specify \(.*\) as well for its last records$/\1/p' error)
check "$(qprof info --format=json "$left" | jq .run.pid)" = $host
qprof trace stat j.qtrace j.qprof >stat 2>error
check $? = 2
check "$(cat error)" = "qprof trace stat: j.qprof: no such file; the program was killed and left $left: specify that"
qprof trace dump j.qtrace $host >whole 2>error
check "$(lines "specify" error)" = 0
check "$(lines 'entry.* step$' whole)" = 40
check "$(tail -n 1 whole | awk '{ print $4, $5 }')" = "entry os.execute"

about "of a trace that goes to a file the rings have the rest, and say so"
check "$(qprof trace dump $host 2>&1 >part | lines 'most records are in the trace file')" = 1

about "the timeline of a program that was killed has its last calls, which are in the profile alone"
QPROF="-output=w.qprof -collect=profile,trace -trace-output=w.qtrace" qlua steps.lua killed &
host=$!
wait $host
qprof html --trace=w.qtrace -o w.html $host 2>error >/dev/null
check $? = 0
check "$(cat error)" = ""
calls=$(qprof report --format=json $host | jq .run.calls)
check "$(grep -A1 'id="timeline"' w.html | grep -o '"threads":\[\[1,[0-9]*' | sed 's/.*,//')" = "$calls"
check "$((calls > 120))" = 1

about "... and says so where they are nowhere"
cp w.qtrace cut.qtrace
qprof merge -o sum.qprof $host >/dev/null 2>&1
qprof html --trace=cut.qtrace -o cut.html sum.qprof 2>error >/dev/null
check "$(cat error)" = "qprof html: cut.qtrace: not closed: the program was killed; its last calls are missing"
finish
