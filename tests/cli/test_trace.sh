#!/bin/sh
# test_trace.sh: the commands of qprof trace, on a trace written by hand and on one of qlua.
. "$(dirname "$0")/lib.sh"
write=${QPROF_BUILD:-$1}/tests/trace_write
about() { about=$1; }
# check ACTUAL = EXPECTED
check() { claim "$about" same "$3" "$1"; }

command -v "$write" >/dev/null || { echo "trace_write is not built"; exit 77; }

# Thread 1: main 0 to 100 us, f 10 to 40, in it g 20 to 25; f 50 to 60; h does not return.
# Thread 2: other 5 to 30 us.
"$write" run.qtrace 4 100000 \
    '@1 main( 10000 f( 10000 g( 5000 ) 15000 ) 10000 f( 10000 ) 5000 h( 5000 !1 *done 30000 )' \
    '@2 5000 other( 25000 )'

about "stat adds up calls"
qprof trace stat --format=json run.qtrace >stat.json
check "$(jq -c '.calls[]|select(.name=="f")|[.calls,.total,.self,.min,.max,.average,.incomplete]' stat.json)" \
    = '[2,40000,35000,10000,30000,20000,0]'
check "$(jq -c '.calls[]|select(.name=="main")|[.total,.self]' stat.json)" = '[100000,55000]'
check "$(jq -c '.calls[]|select(.name=="h")|[.unwound,.total]' stat.json)" = '[1,5000]'
check "$(jq -c '[.calls[].self]|add' stat.json)" = 125000
for form in '' --threads --histogram; do
    qprof trace stat $form --format=json run.qtrace >form.json
    check "$(jq -r --slurpfile schema "$root/docs/schema/trace-stat.json" \
        -f "$here/schema.jq" form.json)" = ''
done

about "a part of the run has what happens in it"
check "$(qprof trace stat --since=22us --until=55us --format=json run.qtrace |
    jq -c '[.calls[]|[.name,.total]]|sort')" = '[["f",23000],["g",3000],["main",33000],["other",8000]]'

about "dump is one object a line, filtered by thread, name and call pattern"
check "$(qprof trace dump --format=json run.qtrace | jq -s 'length')" = 15
check "$(qprof trace dump --format=json --thread=2 run.qtrace | jq -sc '[.[].op]')" = '["switch","entry","exit"]'
check "$(qprof trace dump --format=json --name='g*' run.qtrace | jq -sc '[.[]|[.at,.op]]')" = '[[20000,"entry"],[25000,"exit"]]'
check "$(qprof trace dump --format=csv --when='app.main->app.f' run.qtrace | grep -c '"f"')" = 4
check "$(qprof trace dump --format=json run.qtrace | jq -c 'select(.op=="mark")|[.at,.text]')" = '[70000,"done"]'

about "calls are numbered, and name the call that made them"
qprof trace dump --format=json run.qtrace | jq -r 'select(.call) |
    [.op, .method, .call, .caller, .self, .total] | map(tostring) | join(" ")' >calls
check "$(sed -n '/exit\|unwind/p' calls)" = "exit g 4 3 5000 5000
exit other 2 0 25000 25000
exit f 3 1 25000 30000
exit f 5 1 10000 10000
unwind h 6 1 5000 5000
exit main 1 0 55000 100000"
check "$(sed -n 's/^entry \(.*\) null null$/\1/p' calls)" = "main 1 0
other 2 0
f 3 1
g 4 3
f 5 1
h 6 1"
check "$(qprof trace dump --format=csv run.qtrace | tr -d '\r' | sed -n 's/.*exit,"g",.*,,"","","",//p')" = 4,3,5000,5000

about "calls that began before --since have numbers and no entry; without a caller by --name it is 0"
# main 1, f 2, g 3, other 4 are open at 22 us; the second f begins at 50
numbers() { qprof trace dump --format=csv --since=22us --until=55us "$@" run.qtrace | cut -d, -f3,13,14 | sed 1d | xargs; }
check "$(numbers)" = "exit,3,2 exit,4,0 exit,2,1 entry,5,1"
check "$(numbers --name=g)" = "exit,1,0"

about "records are sorted by any column; those that have none are last"
# column N SORT ...: the column of the records in that order
column() { qprof trace dump --format=csv --sort="$2" run.qtrace | tr -d '\r"' | sed 1d | cut -d, -f"$1" | xargs; }
check "$(column 16 total)" = "100000 30000 25000 10000 5000 5000"
check "$(column 15 self)" = "55000 25000 25000 10000 5000 5000"
check "$(column 4 method)" = "f f f f g g h h main main other other"
check "$(column 10 text)" = "done"
check "$(column 1 thread | cut -d' ' -f1-3,12-15)" = "0 0 10000 100000 0 5000 30000"
check "$(column 14 caller)" = "0 0 0 0 1 1 1 1 1 1 3 3"
check "$(qprof trace dump --sort=total -n 2 run.qtrace)" = \
"         0.100000 ms     1  exit    main  call 1, caller 0, self 55.000 us, total 100.000 us
         0.040000 ms     1  exit      f  call 3, caller 1, self 25.000 us, total 30.000 us"
check "$(qprof trace dump --sort=op -f run.qtrace 2>&1)" = \
    "qprof trace dump: --sort and --follow cannot be combined"

about "values have their types and comments"
printf 'area all-lines parameters=yes\n' >values.conf
QPROF="-output=values.qprof -collect=profile,trace -config=values.conf" ./score 'f(' 10 \
    '=1:string:a b:who' '=2:table:{}' 'g(' 5 '=0:int:7' ')' ')'
check "$(qprof trace dump values.qprof | sed -n 's/.* value *//p')" = "1 string a b  -- who
2 table {}
0 int 7  -- Return Value"
check "$(qprof trace dump --format=csv values.qprof | tr -d '\r' | grep ,value, | cut -d, -f9-12)" = \
'1,"a b","string","who"
2,"{}","table",""
0,"7","int","Return Value"'

about "values are sorted by type and by comment; those that have none are last, in the order of the trace"
values() { qprof trace dump --format=csv --sort="$1" values.qprof | tr -d '\r"' | grep ,value, | cut -d, -f"$2" | xargs; }
check "$(values type 11)" = "int string table"
check "$(values comment 9,12 | tr ' ' '_')" = "0,Return_Value_1,who_2,"
check "$(qprof trace dump --format=json --sort=type values.qprof | jq -sc '[.[:4][].type]')" = '["int","string","table",null]'

QPROF="-output=apart.qprof -collect=profile,trace -config=values.conf" ./score 'f(' '=1:a:x:z' '=2:b:y:c' 'g(' ')' ')'
numbers_by() { qprof trace dump --format=json --sort="$1" apart.qprof | jq -sc '[.[]|select(.op=="value").number]'; }
check "$(numbers_by type) $(numbers_by comment)" = "[1,2] [2,1]"

about "sorted records without a comment have none"
long=$(printf %79s '' | tr ' ' x)
QPROF="-output=long.qprof -collect=profile,trace -config=values.conf" ./score "=1:string:$long" 'f(' ')' \
    '=1:string:a' 'f(' ')' "=1:string:b:$long" 'f(' ')'
check "$(qprof trace dump --sort=text --format=json long.qprof |
    jq -sc '[.[]|select(.op=="value")|[(.text|length),(.comment//""|length)]]')" = '[[1,0],[1,79],[79,0]]'

about "flow is in order, indented"
qprof trace flow --thread=1 run.qtrace | awk '{ print $3 }' | tr '\n' ' ' >flow
check "$(cat flow)" = ".main_1. main f g f h "

about "slow shows the slowest call with its tree"
check "$(qprof trace slow -n 1 --format=json f run.qtrace |
    jq -c '[.calls,.slowest[0].at,.slowest[0].total,(.slowest[0].nodes|length)]')" = '[2,10000,30000,2]'
qprof trace slow nothing run.qtrace 2>error
check $? = 2
check "$(grep -c 'no call of nothing' error)" = 1

about "a trace becomes a profile"
qprof trace profile -o made.qprof run.qtrace >/dev/null
check "$(qprof report --format=json made.qprof |
    jq -c '.methods[]|select(.name=="f")|[.calls,.self,.total,.min,.max]')" = '[2,35000,40000,10000,25000]'
check "$(qprof check made.qprof | tail -n 1)" = "made.qprof: all 12 checks passed"

about "unregistered methods are distinguished by their ids"
"$write" unnamed.qtrace 4 30 '@1 main( 5 ( 10 ) 5 )'
qprof trace profile -o unnamed.qprof unnamed.qtrace >/dev/null
check "$(qprof report --format=json unnamed.qprof | jq -c '[.methods[]|[.name,.calls,.self]]|sort')" = \
    '[["UnnamedFunction2",1,10],["main",1,10]]'

about "a thread is found by the name that it has from its first call"
check "$(qprof trace dump --format=json --thread=.other_2. run.qtrace | jq -sc '[.[].op]')" = '["entry","exit"]'

about "a request for something missing is refused"
qprof trace stat --when='app.g->app.main' run.qtrace >stat 2>error
check "$(cat error)" = "qprof trace stat: run.qtrace: no call matches --when; qprof trace stat -n 0 lists all"
qprof trace dump --since=99999999999999999999s run.qtrace 2>error
check "$(cat error)" = "qprof trace dump: --since=99999999999999999999s: expected a time of the run: 1.5s, 200ms, 17us, 5ns"

about "a truncated or foreign file is reported, also by the status"
head -c 700 run.qtrace >cut.qtrace
qprof trace stat cut.qtrace >stat 2>error
check $? = 1
check "$(grep -c 'it is cut: .* of its last packet left out' error)" = 1
echo 'print("no trace")' >foreign
qprof trace stat foreign 2>error
check $? = 2
check "$(grep -c 'foreign: not a trace: ' error)" = 1
qprof trace convert -o run.qtrace.zst run.qtrace >/dev/null
head -c 20 run.qtrace.zst >cut.qtrace.zst
qprof trace stat cut.qtrace.zst 2>error
check $? = 2
check "$(cat error)" = "qprof trace stat: cut.qtrace.zst: no trace in the zstd file (damaged, or cut in its first block)"

about "averages of a table of milliseconds have a part of one"
# f is called twice, 4 ms and, with that, 11 ms: 7.5 on average
printf '1,0,"I","f",1\r\n1,5,"I","f",1\r\n1,9,"O","f",1\r\n1,11,"O","f",1\r\n' >MS.PRF
check "$(qprof trace stat --format=json MS.PRF | jq -c '.calls[0]|[.average,.total,.self]')" = '[7500000,11000000,11000000]'

about "an unfiltered table has the same figures as a .qtrace file, and losses of the format are reported"
# MAIN 0 to 31; in it F 2 to 13, in it F 5 to 9; LEN, which its caller alone announces, 20 to 22;
# AT, the same, begins at 24 and is left at 30, when MAIN says that it ends; E has no caller: 32 to 35
cat >U.PRF <<'END'
1,0,"i","MAIN",1,""
1,1,"I","MAIN",1,""
1,2,"i","F",5,"7, .T."
1,3,"I","F",1,""
1,5,"i","F",5,""
1,6,"I","F",1,""
1,8,"O","F",1,""
1,9,"o","F",5,""
1,12,"O","F",2,""
1,13,"o","F",5,"NIL"
1,20,"i","LEN",6,""
1,22,"o","LEN",6,""
1,24,"i","AT",6,""
1,30,"O","MAIN",9,""
1,31,"o","MAIN",1,""
1,32,"I","E",0,""
1,35,"O","E",0,""
END
figures() { qprof trace stat --format=json "$1" | jq -c '[.calls[]|[.name,.calls,.total,.self,.max,.unwound]]|sort'; }
ms=000000
check "$(figures U.PRF)" = \
    "[[\"AT\",1,6$ms,6$ms,6$ms,1],[\"E\",1,3$ms,3$ms,3$ms,0],[\"F\",2,11$ms,11$ms,11$ms,0]"\
",[\"LEN\",1,2$ms,2$ms,2$ms,0],[\"MAIN\",1,31$ms,12$ms,31$ms,0]]"
for form in qtrace qtrace.zst; do
    qprof trace convert -o "U.$form" U.PRF >/dev/null 2>error
    check "$(cat error)" = \
        "qprof trace convert: U.PRF: lines (of 15 records) and parameters (of 2 records) left out: "\
".qtrace has calls and times; --to=csv keeps them"
    check "$(figures "U.$form")" = "$(figures U.PRF)"
done

about "a profile of a table says what is known of it: its file, no process, and milliseconds"
qprof trace profile -o table.qprof U.PRF >/dev/null
qprof report table.qprof >report
check "$(sed -n 1p report)" = "U.PRF  (table.qprof)"
check "$(grep -cE '^  imported +from the Xbase\+\+ profiler, in milliseconds$' report)" = 1
check "$(grep -cE '^  measured +exact calls and elapsed time$' report)" = 1

about "what lies beside a table and cannot be read is reported, and a link there is not followed"
qprof trace convert -o ALONE.PRF U.PRF >/dev/null
mv ALONE.PRV kept.PRV
status=0; qprof trace dump ALONE.PRF >/dev/null 2>error || status=$?
check "$status $(grep -c 'ALONE.PRF: parameters of 2 rows cannot be read' error)" = '1 1'
ln -s kept.PRV ALONE.PRV
status=0; qprof trace dump ALONE.PRF >/dev/null 2>error || status=$?
check "$status $(grep -c 'ALONE.PRF: parameters of 2 rows cannot be read' error)" = '1 1'
rm ALONE.PRF ALONE.PRV kept.PRV

about "a table made of a table has the day of its source; one of text, which has none, today's"
qprof trace convert -o DAY.PRF run.qtrace >/dev/null
printf '\143\014\037' | dd of=DAY.PRF bs=1 seek=1 conv=notrunc 2>/dev/null # 1999-12-31
qprof trace convert -o DAY2.PRF DAY.PRF >/dev/null
check "$(od -An -tu1 -j1 -N3 DAY2.PRF | tr -s ' ')" = " 99 12 31"
qprof trace convert -o DAY3.PRF U.PRF >/dev/null
check "$(($(od -An -tu1 -j1 -N1 DAY3.PRF) + 1900))" = "$(date -u +%Y)"

about "the forms of files have the same records"
qprof trace dump --format=csv run.qtrace >all.csv
for form in again.qtrace packed.qtrace.zst; do
    qprof trace convert -o $form run.qtrace >/dev/null
    qprof trace dump --format=csv $form | cmp - all.csv
    check $? = 0
done
qprof trace convert -o same.csv run.qtrace >/dev/null
cmp same.csv all.csv
check $? = 0
qprof trace convert -o RUN.PRF run.qtrace >/dev/null
check "$(qprof trace dump --format=csv RUN.PRF | grep -c 'entry\|exit')" = 11 # h has no exit
qprof trace convert --to=delimited -o RUN.TXT run.qtrace >/dev/null
check "$(head -n 1 RUN.TXT | tr -d '\r')" = '1,0,"I","main",10,""'

about "a table that could not be written leaves nothing"
for blocks in 0 1; do
    error=$( (trap '' XFSZ && ulimit -f $blocks && qprof trace convert -o FULL.PRF run.qtrace) 2>&1)
    check $? = 2
    check "$error" = 'qprof trace convert: FULL.PRF: File too large'
    check "$(ls FULL.* 2>/dev/null)" = ''
done

about "a Chrome trace has a beginning and an end of every call, in us"
qprof trace export --to=chrome -o run.json run.qtrace
check "$(jq -c '[.traceEvents[]|select(.name=="g")|[.ph,.tid,.ts,.dur]]' run.json)" = '[["X",1,20,5]]'
check "$(jq -c '[.traceEvents[]|select(.name=="main")|[.ph,.tid,.ts,.dur]]' run.json)" = '[["X",1,0,100]]'
check "$(jq '[.traceEvents[]|select(.ph=="X")]|length' run.json)" = 6
check "$(jq '[.traceEvents[]|select(.ph=="B" or .ph=="E")]|length' run.json)" = 0
check "$(jq -c '[.traceEvents[]|select(.ph=="i")|[.name,.ts]]' run.json)" = '[["done",70]]'

about "calls that begin or end at once are in order, whatever a viewer sorts by"
"$write" ties.qtrace 4 100000 '@1 a( b( 5123 c( ) ) d( 5001 ) 1 e( 7 f( 5 ) ) 2 )'
qprof trace export --to=chrome -o ties.json ties.qtrace
check "$(jq -c '[.traceEvents[]|select(.ts)]|sort_by(.ts)|map([.ph,.name,.ts,.dur])' ties.json)" = \
    '[["B","a",0,null],["B","b",0,null],["B","c",5.123,null],["E","c",5.123,null],["E","b",5.123,null],["X","d",5.123,5.001],["B","e",10.125,null],["B","f",10.132,null],["E","f",10.137,null],["E","e",10.137,null],["E","a",10.139,null]]'

if command -v protoc >/dev/null; then
    about "a trace of Perfetto has only fields of its description"
    qprof trace export --to=perfetto -o run.pftrace run.qtrace
    protoc -I "$root/tests/export" --decode=perfetto.protos.Trace perfetto.proto <run.pftrace >decoded
    check $? = 0
    check "$(grep -cE '^ *[0-9]+[:{ ]' decoded)" = 0
    check "$(grep -c TYPE_SLICE_BEGIN decoded)" = 6
    check "$(grep -c TYPE_SLICE_END decoded)" = 6
    check "$(grep -A1 'timestamp: 20000' decoded | grep -c timestamp)" = 1
fi

about "what is missing or wrong is reported"
head -c -30 run.qtrace >cut.qtrace
qprof trace stat cut.qtrace >/dev/null 2>error
check "$(grep -c 'it is cut: .* of its last packet left out' error)" = 1
for words in "stat" "stat missing.qtrace" "stat --since=x run.qtrace" "dump --when=a->-> run.qtrace" \
    "stat --since=2us --until=1us run.qtrace" "export --to=nothing run.qtrace" "profile run.qtrace"; do
    # shellcheck disable=SC2086
    qprof trace $words >out 2>error
    check $? = 2
    check "$(head -n 1 error | grep -c '^qprof trace')" = 1
done

for command in dump stat flow "slow f" "export --to=chrome"; do
    # shellcheck disable=SC2086
    qprof trace $command --thread=77 run.qtrace >out 2>error
    check $? = 2
    check "$(grep -c 'run.qtrace: no record of a thread 77' error)" = 1
done

about "a remark is a file next to the trace"
qprof trace remark RUN.PRF 'before the change'
check "$(cat RUN.PRA)" = "before the change"
check "$(qprof trace remark RUN.PRF)" = "before the change"

[ -x "$bin/qlua" ] || { finish; exit; }
about "figures of qlua's trace are those of its exact profile"
cat >fib.lua <<'END'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local step = coroutine.wrap(function() for i = 1, 5 do fib(i) coroutine.yield() end end)
for i = 1, 5 do step() pcall(error, "left") end
for i = 1, 5 do coroutine.wrap(function() fib(3) coroutine.yield() end)() end
collectgarbage() -- ends them, while it runs on
print(fib(12))
END
# figures_agree PROFILE TRACE: to the nanosecond
figures_agree() {
    rm -f replayed.qprof
    qprof trace profile -o replayed.qprof "$2" >/dev/null
    for profile in "$1" replayed.qprof; do # a trace knows neither waiting nor blocks
        qprof report --threads --format=json "$profile" |
            jq '[.methods[] | del(.self_run, .self_off, .total_run, .total_off, .run_percent, .instructions)] |
                sort_by(.name, .file, .line)' >"${profile##*/}.json"
    done
    cmp "${1##*/}.json" replayed.qprof.json
    check $? = 0
}
for source in auto monotonic; do
    QPROF="-output=$source.qprof -elapsed-source=$source -trace-mode=stream" qlua fib.lua >/dev/null
    figures_agree $source.qprof $source.qtrace
    QPROF="-output=$source.rings -elapsed-source=$source -collect=profile,trace" qlua fib.lua >/dev/null
    figures_agree $source.rings $source.rings
done
about "functions of one name are distinguished by file and line"
printf '%s\n' 'local function f() end f()' 'do local function f() end f() f() end' >two.lua
QPROF="-output=two.qprof -collect=profile,trace" qlua two.lua
qprof trace stat --format=csv two.qprof | tr -d '"\r' >two.csv
check "$(head -n 1 two.csv | cut -d, -f1-4)" = "name,file,line,calls"
check "$(awk -F, '$1 == "f" { sub(".*/", "", $2); print $2, $3, $4 }' two.csv | sort)" = "two.lua 1 1
two.lua 2 2"
check "$(qprof trace dump --format=csv --name=f two.qprof | tr -d '"\r' |
    awk -F, '$3 == "entry" { sub(".*/", "", $5); print $5, $6 }')" = "two.lua 1
two.lua 2
two.lua 2"
about "a counter below zero is below zero"
echo 'local q = require("qlua") q.counter("balance", -5) q.counter("balance", 3)' >balance.lua
QPROF="-output=balance.qprof -collect=profile,trace" qlua balance.lua
check "$(qprof trace dump --format=json balance.qprof | jq -sc '[.[]|select(.op=="count").number]')" = '[-5,3]'
check "$(qprof trace dump balance.qprof | grep -c 'balance  -5$')" = 1
check "$(qprof trace export --to=chrome balance.qprof | jq -c '[.traceEvents[]|select(.ph=="C").args.value]')" = '[-5,3]'
qprof html --trace=balance.qprof -o balance.html balance.qprof >/dev/null
check "$(grep -cE ',-5,"balance"\]' balance.html)" = 1
about "records that could not be written after the last one are lost as well"
echo 'repeat for i = 1, 1000 do math.abs(i) end until io.open("enough")' >full.lua
( trap '' XFSZ
  ulimit -f 200 # 100 KiB a file: no more room on the disk
  QPROF="-output=full.qprof -trace-output=full.qtrace -trace-buffer=16K -trace-memory=16K" exec qlua full.lua ) &
size=0 before=
until [ "$size" -gt 50000 ] && [ "$size" = "$before" ]; do # until it grows no more
    sleep 0.5
    before=$size
    size=$(stat -c %s full.qtrace 2>/dev/null || echo 0)
done
touch enough
wait
lost=$(qprof info --format=json full.qprof |
    jq '.diagnostics|(.trace_lost // 0) + .trace_unwritten')
check "$(qprof trace stat --format=json full.qtrace 2>error | jq .trace.lost)" = "$lost"
check "$(grep -cE 'records lost in [0-9]+ places? .*could not be written' error)" = 1
check "$(qprof trace stat --format=json full.qtrace full.qprof 2>/dev/null | jq .trace.lost)" = "$lost"
about "all commands say when a flight recorder begins"
echo 'for i = 1, 3000 do math.abs(i) end' >long.lua
QPROF="-output=long.qprof -collect=profile,trace -trace-buffer=16K" qlua long.lua
qprof trace stat long.qprof 2>&1 >/dev/null | grep -o 'begins .*' >begins
qprof trace convert -o long.qtrace long.qprof 2>&1 >/dev/null | grep -o 'begins .*' | cmp - begins
check $? = 0
about "a call that is open at the end ends when its profile does"
printf 'local function f() os.exit(0) end f()\n' >open.lua
QPROF="-output=open.qprof -trace-mode=stream" qlua open.lua
qprof trace profile -o opened.qprof open.qtrace >/dev/null
total() { qprof report --format=json "$1" | jq .run.total; }
check "$(total opened.qprof)" = "$(total open.qprof)"
about "a table has the top of the functions and says so, other forms have all"
seq 40 | sed 's/.*/local function f&() end f&()/' >many.lua
QPROF="-output=many.qprof -collect=profile,trace" qlua many.lua
rows=$(qprof trace stat --limit=0 many.qprof | sed 1d | wc -l)
check "$(qprof trace stat many.qprof | tail -n 1)" = "$((rows - 30)) more functions; show them with --limit=0"
check "$(qprof trace stat --format=csv many.qprof | sed 1d | wc -l)" = "$rows"
check "$(qprof trace stat --format=json many.qprof | jq '.calls | length')" = "$rows"
about "figures of a flight recorder are those of its profile"
QPROF="-output=flight.qprof -collect=profile,trace" qlua fib.lua >/dev/null
check "$(qprof trace stat --format=json flight.qprof | jq '.calls[]|select(.name=="fib")|.calls')" = \
    "$(qprof report --format=json flight.qprof | jq '.methods[]|select(.name=="fib")|.calls')"
about "a trace keeps to its limit"
limited() { # CALLS
    QPROF="-output=limited.qprof -trace-output=limited.qtrace -trace-limit=1M -trace-full=wait" \
        ./score 'main(' "f~$1" ')'
}
truncate -s 64K hole
if fallocate -p -o 0 -l 4096 hole 2>/dev/null; then
    limited 20000
    claim "$about: less is whole" ends 0 qprof trace stat --format=json limited.qtrace
    check "$(jq -c '[.calls[] | [.name, .calls, .total]]' out) $(cat err)" = \
        '[["f",20000,20000000],["main",1,20000000]] '
    limited 1000000
    claim "$about: the newest are kept" ends 0 qprof trace stat --format=json limited.qtrace
    claim "$about, and says so" grep -Eq \
        '^qprof trace stat: limited.qtrace: begins [0-9.]+ ms +after the start: the first [0-9.]+ MiB were removed .-trace-limit.$' err
    check "$(wc -l <err)" = 1
    check "$(jq -c '.calls[] | select(.name == "f") | [.total == (.calls - .incomplete) * 1000, .min, .max, .calls > 50000, .calls < 500000]' out)" = \
        '[true,1000,1000,true,true]'
    check "$(($(stat -c '%b * %B' limited.qtrace) <= 1200000))" = 1
    check "$(jq -c '[.trace.removed_bytes > 1048576, .trace.begins + (.calls[] | select(.name == "f") | .total)]' out)" = \
        '[true,1000000000]'
    mv out long.json
    claim "$about: the page says so" ends 0 qprof html --trace=limited.qtrace -o limited.html limited.qprof
    check "$(grep -c '^qprof html: limited.qtrace: begins .* were removed .-trace-limit.$' err)" = 1
    claim "$about: run says so" ends 0 qprof run -trace-output=run.qtrace -trace-limit=1M -trace-full=wait \
        -o run.qprof -- ./score 'main(' f~1000000 ')'
    check "$(grep -c '^      .the first .* of it were removed: -trace-limit.$' err)" = 1
    claim "$about: a short copy" ends 0 qprof trace convert -o short.qtrace limited.qtrace
    qprof trace stat --format=json short.qtrace >short.json 2>err
    check "$(jq -c .calls short.json)" = "$(jq -c .calls long.json)"
    check "$(($(stat -c %s short.qtrace) <= 1200000))" = 1
fi

about "overwrite alone collects a trace"
QPROF="-output=over.qprof -trace-mode=overwrite" ./score 'main(' 'f~10' ')'
check "$(qprof trace stat --format=json over.qprof | jq -c '[.calls[] | [.name, .calls]] | sort')" = '[["f",10],["main",1]]'
finish
