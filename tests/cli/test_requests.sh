#!/bin/sh
# test_requests.sh: the requests of endpoints: their table, and --endpoint of the other commands.
. "$(dirname "$0")/lib.sh"

# a: 20 us in f, 3 us below g in f; 5 us in f, failed; b: 7 us in f, in it c: 11 us in h; d is cut
record run.qprof 'main(' 1 '[GET /a' 'f(' 20 'g(' 3 ')' ')' ']' '[GET /a' 'f(' 5 ')' ']!' 'f(' 100 ')' \
    '[GET /b' 'f(' 7 '[c' 'h(' 11 ')' ']' ')' ']' '[d' 'f(' 2 ')' ')'
record none.qprof 'main(' 1 ')'

# rows FIELDS: of the table
rows() { qprof requests --format=json "$2" | jq -rc ".endpoints[] | [$1]"; }
printf '%s\n' '["GET /a",2,1,0,28000,28000,14000,23000]' '["GET /b",1,0,0,18000,18000,18000,18000]' \
    '["c",1,0,0,11000,11000,11000,11000]' '["d",1,0,1,2000,0,null,null]' >wanted
rows '.endpoint, .requests, .failed, .cut, .total, .elapsed_ns, .mean_ns, .slowest_ns' run.qprof >found
claim "counts and times" diff -u wanted found
claim "the trace of the slowest" same '["30313233343536373839616263646566","0000000000000000"]' \
    "$(rows '.slowest_trace, .slowest_span' run.qprof | head -n 1)"
claim "... and its moment" qprof requests --format=json run.qprof
claim "a table" same 'GET /a 2 1 0 28.000 18.8 14.000 us 23.000 us' \
    "$(qprof requests run.qprof | grep '^GET /a' | tr -s ' ' | cut -d' ' -f1-11)"
claim "... sorted by name, in CSV" same 'GET /a,GET /b,c,d' \
    "$(qprof requests --sort=name --format=csv run.qprof | sed 1d | cut -d, -f1 | tr -d '"' | paste -sd,)"
claim "without requests it says so" grep -q 'No request was recorded' <<END
$(qprof requests none.qprof)
END
qprof merge -o sum.qprof run.qprof run.qprof >/dev/null
claim "a merge adds them up" same '["GET /a",4,2,0,56000,23000]' \
    "$(rows '.endpoint, .requests, .failed, .cut, .elapsed_ns, .slowest_ns' sum.qprof | head -n 1)"
claim "... twice" sh -c "qprof merge -o again.qprof sum.qprof run.qprof >/dev/null &&
    [ \$(qprof requests --format=json again.qprof | jq '.endpoints[0].requests') = 6 ]"
for file in run sum; do
    claim "$file.qprof is consistent" qprof check $file.qprof
done

# ---- --endpoint ----------------------------------------------------------------------------------
# of COMMAND...: "name calls total" of its functions, in us
of() { qprof report --format=json "$@" run.qprof | jq -r '.methods[] | "\(.name) \(.hits) \(.total / 1000)"' | sort; }
printf 'GET /a 2 28\nf 2 28\ng 1 3\n' >wanted
of --endpoint='GET /a' >found
claim "the calls of one endpoint" diff -u wanted found
printf 'GET /a 2 28\nGET /b 1 18\nc 1 11\nf 3 46\ng 1 3\nh 1 11\n' >wanted
of --endpoint='GET /*' >found
claim "... of several, with those inside them" diff -u wanted found
of --endpoint='GET /a' --endpoint='GET /b' >found
claim "... named one by one" diff -u wanted found
claim "an inner one" same 'c 1 11,h 1 11' "$(of --endpoint=c | paste -sd,)"
claim "a name that is unknown" same 2 "$(qprof report --endpoint=none run.qprof >/dev/null 2>&1; echo $?)"
claim "... nor is a function one" same 2 "$(qprof report --endpoint=main run.qprof >/dev/null 2>&1; echo $?)"
claim "the head names it" grep -q 'GET /a and what it called' <<END
$(qprof tree --endpoint='GET /a' run.qprof)
END
claim "a tree" same 'GET /a,f,g' "$(qprof tree --endpoint='GET /a' run.qprof | sed '1,/Call tree/d' |
    grep -Eo '(GET /[ab]|\<[a-z]+\>)( |$)' | sed 's/ *$//' | grep -Ev '^(score|src)$' | paste -sd,)"
claim "folded stacks" same 'GET /a;f 25000,GET /a;f;g 3000' \
    "$(qprof export --to=folded --endpoint='GET /a' run.qprof | sed 's/^\.[^;]*;//' | sort | paste -sd,)"
claim "a difference" grep -q 'f' <<END
$(qprof diff --endpoint='GET /a' run.qprof run.qprof)
END
claim "a page" sh -c "qprof html --endpoint='GET /a' -o page.html run.qprof && [ -s page.html ]"
QPROF=-collect=coverage\ -output=cover.qprof ./score '[a' 'f(' ')' ']'
claim "coverage alone has no requests" same 0 "$(qprof requests --format=json cover.qprof | jq '.endpoints | length')"

# ---- the slowest, whole ------------------------------------------------------------------------------
# a: 6 and 9 us of three; b: 4 us, cut; of a's second one f is called four times
QPROF='-output=slow.qprof -slowest=2' ./score 'main(' '[a' 'f(' 6 ')' ']!' '[a' 1 ']' '[a' 'f(' 1 ')' 'f(' 1 ')' 'g(' 'f(' 5 ')' ')' 2 \
    ']' 'h(' '[b' 4 ')' ')'
# list FIELDS: of the kept requests
list() { qprof requests --slowest --format=json slow.qprof | jq -rc ".requests[] | [$1]"; }
printf '%s\n' '[1,"a",9000,4,"ended"]' '[2,"a",6000,1,"failed"]' '[3,"b",4000,0,"cut"]' >wanted
list '.number, .endpoint, .elapsed_ns, .calls, .outcome' >found
claim "the slowest are listed" diff -u wanted found
claim "... as a table" same '2 a 6.000 us - 1 failed' "$(qprof requests --slowest slow.qprof | grep ' a .*failed' | tr -s ' ' |
    sed 's/^ //' | cut -d' ' -f1-7)"
claim "... in CSV" same '3,4' "$(qprof requests --slowest --format=csv slow.qprof | sed 1d | wc -l),$(qprof requests --slowest \
    --format=csv slow.qprof | sed -n 2p | cut -d, -f6)"
# calls N: "depth function calls begin total" of one, in us
calls() {
    qprof requests --format=json slow.qprof "$@" |
        jq -r '.calls[] | "\(.depth) \(.function) \(.calls) \(.begin_ns / 1000) \(.total_ns / 1000)"'
}
printf '%s\n' '0 a 1 0 9' '1 f 1 0 1' '1 f 1 1 1' '1 g 1 2 5' '2 f 1 2 5' >wanted
calls --show=1 >found
claim "the calls of one" diff -u wanted found
claim "... of another" same '0 b 1 0 4' "$(calls --show=3)"
claim "... by its trace id" same '0 a 1 0 9' "$(calls --trace-id=30313233343536373839616263646566 | head -n 1)"
claim "... as a tree" grep -q '^ *2.000  *5.000 *    g$' <<END
$(qprof requests --show=1 slow.qprof)
END
claim "... in CSV" same 6 "$(qprof requests --show=1 --format=csv slow.qprof | wc -l)"
claim "an unknown number" says 'not a number from 1 to 3' qprof requests --show=4 slow.qprof
claim "... nor 0" says '--show=0: not a number from 1 to 3' qprof requests --show=0 slow.qprof
claim "an empty trace id" says '--trace-id=: expected the digits of a trace id' qprof requests --trace-id= slow.qprof
claim "those of one endpoint keep their numbers" same '3 b' "$(qprof requests --slowest --endpoint=b --format=json slow.qprof |
    jq -r '.requests[] | "\(.number) \(.endpoint)"')"
claim "the counts of one endpoint" same '["a",3]' "$(qprof requests --endpoint=a --format=json slow.qprof | jq -c '.endpoints[] | [.endpoint, .requests]')"
echo 'require("qlua").request("x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tostring, 1)' >hex.lua
QPROF='-output=hex.qprof -slowest=2' "$QPROF_BIN/qlua" hex.lua
claim "... whose digits may be capitals" same x "$(qprof requests --trace-id=0AF7651916CD43DD8448EB211C80319C --format=json hex.qprof |
    jq -r '.calls[0].function')"
claim "an unknown trace" says 'no kept request has it' qprof requests --trace-id=00 slow.qprof
claim "none was kept" says 'no request was kept whole' qprof requests --show=1 run.qprof
claim "... as the list says" grep -q 'record with -slowest=8/60s, for example. Profiles that were merged have none' <<END
$(qprof requests --slowest run.qprof)
END
claim "the endpoints lead there" grep -q '^3 of them were kept whole: qprof requests --slowest$' <<END
$(qprof requests slow.qprof)
END
qprof requests --slowest --to=chrome -o slow.json slow.qprof
qprof requests --show=1 --to=chrome slow.qprof >one.json
# track N: "name begin duration" of its events, from the begin of the request on
track() { jq -r --argjson n "$1" '[.traceEvents[] | select(.ph == "X" and .tid == $n)] | .[0].ts as $begin | .[] |
    "\(.name) \((.ts - $begin) * 1000 | round / 1000) \(.dur)"' "$2"; }
printf '%s\n' 'a 0 9' 'f 0 1' 'f 1 1' 'g 2 5' 'f 2 5' >wanted
track 1 slow.json >found
claim "a timeline of all" diff -u wanted found
track 1 one.json >found
claim "... of one" diff -u wanted found
claim "... each in a track" same '1 a,2 a,3 b' "$(jq -r '.traceEvents[] | select(.ph == "M") | .args.name' slow.json | paste -sd,)"
claim "a file that is in the way stays" says '--force replaces it' qprof requests --slowest --to=chrome -o slow.json slow.qprof
claim "an unknown timeline" says 'expected chrome' qprof requests --slowest --to=none slow.qprof
claim "a timeline of nothing" says 'no request was kept whole' qprof requests --slowest --to=chrome run.qprof
# about FILE: of what its timeline is
about() { grep -o '"about":"[^"]*"' "$1"; }
qprof html -o page.html slow.qprof >/dev/null
claim "the timeline of a page is the slowest one" same '"about":"Request 1 of 3 that were kept whole: a, 9.000 us"' "$(about page.html)"
qprof html --request=2 -o second.html slow.qprof >/dev/null
claim "... or another one" same '"about":"Request 2 of 3 that were kept whole: a, 6.000 us, failed"' "$(about second.html)"
claim "... that is there" says '--request=4: no request that was kept whole has this number' qprof html --request=4 slow.qprof
claim "... and not two" says '--request cannot be combined with several profiles' qprof html --request=1 slow.qprof slow.qprof
claim "a page without such requests has no timeline" same '' "$(qprof html -o - run.qprof | grep -o 'id="timeline"')"
# 200 short calls, of which none has a 50th of the request, are one line
short=$(for i in $(seq 200); do printf 'f( 1 g( ) ) '; done)
# shellcheck disable=SC2086
QPROF='-output=slow.qprof -slowest=2' ./score '[a' $short 'f(' 100 'g(' ')' ')' $short ']'
printf '%s\n' '0 a 1 0 500' '1 f 200 0 200' '2 g 200 1 0' '1 f 1 200 100' '2 g 1 300 0' '1 f 200 300 200' '2 g 200 301 0' >wanted
calls --show=1 >found
claim "calls of the same shape are one line" diff -u wanted found

# ---- a process that is killed, and one that runs ----------------------------------------------------
qprof run -o killed.qprof -- ./score 'main(' '[a' 'f(' 3 ')' ']' '[a' 'f(' 3 kill 2>/dev/null
claim "a request of a killed process is cut" same '["a",2,0,1]' "$(rows '.endpoint, .requests, .failed, .cut' killed.qprof)"
QPROF=-output=live.qprof ./score '[a' 'f(' 3 ')' ']' '[a' wait &
pid=$!
until qprof requests --format=json $pid 2>/dev/null | jq -e '.endpoints[0].open == 1' >/dev/null; do sleep 0.1; done
claim "one of a process that runs is open" same '["a",1,0,0,1]' "$(rows '.endpoint, .requests, .failed, .cut, .open' $pid)"
kill -KILL $pid
QPROF=-output=busy.qprof ./score 'g(' 1 ')' '[a' 'f(' wait ')' ']' &
pid=$!
until qprof requests --format=json $pid 2>/dev/null | jq -e '.endpoints[0].open == 1' >/dev/null; do sleep 0.1; done
busy() {
    qprof top --count=2 --interval=0.2 --endpoint=a $pid >shown && grep -q ', in a$' shown && grep -q ' f ' shown && ! grep -q ' g ' shown &&
        says 'matches no endpoint' qprof top --count=1 --endpoint=none $pid
}
claim "top shows what a request does now" busy
kill -KILL $pid
finish
