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
