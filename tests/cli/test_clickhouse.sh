#!/bin/sh
# test_clickhouse.sh: a store on two servers of ClickHouse: the same bytes as one in a file, each profile once, whatever
# happens to the push, to a server or to its answers. lossy_proxy.py loses these. Here the servers are two of
# clickhouse_double.py; tests/long/clickhouse.sh has real ones, and kills more pushes.
. "$(dirname "$0")/lib.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY QPROF_PUSH_HEADERS
for tool in python3 curl; do
    command -v $tool >/dev/null || { echo "SKIP: $tool is missing"; exit 77; }
done
qprof version | grep -q 'push .*libcurl' || { echo "SKIP: qprof was built without libcurl"; exit 77; }

# ---- servers: two of ClickHouse, unpacked in the folder QPROF_CLICKHOUSE, or their doubles ----------------------------
proxy_pid=
stop() { [ ! -s "s$1/pid" ] || kill -"${2:-TERM}" "$(cat "s$1/pid")" 2>/dev/null; }
is_up() { kill -0 "$(cat "s$1/pid")" 2>/dev/null; }
down() { stop "$@"; while is_up "$1"; do sleep 0.05; done; }
trap 'stop 1 KILL; stop 2 KILL; [ -z "$proxy_pid" ] || kill $proxy_pid; cd /; rm -rf "$work"' EXIT
# shellcheck disable=SC2046  # two numbers
set -- $(sh "$root/tests/clickhouse.sh" ports 2)
port1=$1 port2=$2
# up N: the N-th, until it answers
up() {
    eval "port=\$port$1"
    if [ -n "${QPROF_CLICKHOUSE:-}" ]; then
        sh "$root/tests/clickhouse.sh" start "$QPROF_CLICKHOUSE" "s$1" "$port"
        return
    fi
    mkdir -p "s$1"
    python3 "$here/clickhouse_double.py" "s$1" "$port" >"s$1/out" 2>&1 &
    echo $! >"s$1/pid"
    until curl -s "http://127.0.0.1:$port/ping" >/dev/null; do is_up "$1" || { cat "s$1/out"; return 1; }; done
}
up 1 && up 2 || exit 1
# on DATABASE: the addresses of both shards
on() { echo "clickhouse:http://127.0.0.1:$port1/$1,http://127.0.0.1:$port2/$1"; }
# sql N STATEMENT: its answer by the N-th server
sql() { eval "curl -sS --data-binary @- http://127.0.0.1:\$port$1/" <<END; }
$2
END
# rows TABLE: of both servers
rows() { echo $(($(sql 1 "SELECT count() FROM $1") + $(sql 2 "SELECT count() FROM $1"))); }

# figures FILE: calls, own ns and ns with callees of each function, by name
figures() { jq -r '.methods | sort_by(.name) | .[] | "\(.name) \(.calls) \(.self) \(.total)"' "$1"; }

# two runs: main 5 us and f 3 us; main 1 us, f 2 + 4 us, and g only here
QPROF_LABELS=service=web,version=1,host=a record a.qprof 'main(' 5 'f(' 3 ')' 'h?' ')'
QPROF_LABELS=service=web,version=2,host=b,region=eu record b.qprof 'main(' 1 'f(' 2 ')' 'f(' 4 ')' 'g(' 7 ')' ')'
QPROF_LABELS=service=mail,version=1,host=a record c.qprof 'main(' 9 'g(' 1 ')' ')'

# ---- sums by hand -------------------------------------------------------------------------------------------
imports() {
    ends 0 qprof store import "$(on one)" a.qprof b.qprof &&
        same "$(on one): 2 profiles added with 6 calls" "$(cat out)" && same "" "$(cat err)"
}
claim "an import makes the tables, and is one line" imports
by_hand() {
    qprof store top --format=json "$(on one)" >top.json && same "f 3 9000 9000
g 1 7000 7000
main 2 6000 22000" "$(figures top.json)"
}
claim "calls and times of both shards add" by_hand
again() {
    cp a.qprof other.qprof && ends 0 qprof store import "$(on one)" other.qprof b.qprof a.qprof &&
        same "$(on one): 0 profiles added, 3 in it already" "$(cat out)" && by_hand
}
claim "a profile is in it once, by whatever name" again
claim "its own checks pass" same "$(on one): 2 profiles with 6 calls: no mistake found" "$(qprof store check "$(on one)")"
claim "h is known, and not called" same h "$(qprof store dead --format=json "$(on one)" | jq -r '.dead[].name')"
claim "a service" same "f 1 3000 3000
main 1 5000 8000" "$(qprof store top --version=1 --format=json "$(on one)" >v1.json; figures v1.json)"
claim "nothing that fits" ends 2 qprof store top --version=3 "$(on one)"

# ---- the same bytes as a store in a file --------------------------------------------------------------------
# same_bytes NAME [WORDS...]: of all commands that read, or of those
same_bytes() {
    to=$(on "$1") db=$1.db
    shift
    number=$(qprof store slow --format=json "$db" 2>/dev/null | jq '.requests[0].number // 1')
    [ $# -gt 0 ] || set -- top 'top --format=json' slow 'slow --format=json' "slow --show=$number" 'top --label=host=a --sort=calls' \
        tree 'tree --format=json --min-percent=0' series 'series --by=version --format=csv' 'series --by=hour' dead \
        'dead --format=json' requests check 'diff --base=1 --new=2' 'diff --base=host=a --new=host=b --format=json' \
        'diff --paths --base=1 --new=2' 'top --version=none' 'list --format=json'
    for words; do
        for store in "$db" "$to"; do
            # shellcheck disable=SC2086  # words
            qprof store $words "$store" >got 2>&1
            echo "status $?" >>got
            # what a profile takes in the store differs
            sed "s|$store|STORE|g; s/,\"bytes\":[0-9]*,/,/" got >"got.${store%%:*}"
        done
        cmp "got.$db" got.clickhouse || { echo "store $words"; diff "got.$db" got.clickhouse; return 1; }
    done
    rm -f x.file.qprof x.servers.qprof
    qprof store export -o x.file.qprof "$db" >/dev/null && qprof store export -o x.servers.qprof "$to" >/dev/null &&
        cmp x.file.qprof x.servers.qprof
}
# now_same NAME: of those that show most; of all with real servers
now_same() {
    [ -z "${QPROF_CLICKHOUSE:-}" ] || { same_bytes "$1"; return; }
    same_bytes "$1" check 'top --format=json' 'slow --format=json' 'dead --format=json' 'list --format=json' 'diff --base=1 --new=2'
}
# both NAME WORDS...: of both stores
both() {
    name=$1 command=$2
    shift 2
    for store in "$name.db" "$(on "$name")"; do
        if [ "$command" = import ]; then qprof store import "$store" "$@"; else qprof store "$command" "$@" "$store"; fi >said 2>&1
        echo "status $?" >>said
        sed "s|$store|STORE|" said >"said.${store%%:*}"
    done
    cmp "said.$name.db" said.clickhouse || { diff "said.$name.db" said.clickhouse; return 1; }
}
score='main( #0*1 5 f( #1*3 3 ) @t g( #0*2 7 f( 1 ) ) @u f( 2 ) [/a 2 f( 3 ) ] ) main( 4 )'
n=0
for options in -time=exact -time=adaptive '-time=none -collect=profile,coverage' -collect=coverage '-allocations=yes -slowest=2/60s'; do
    n=$((n + 1))
    for i in 1 2 3; do
        QPROF_LABELS="service=s,version=$((i % 2 + 1)),host=$(echo abc | cut -c$i)" QPROF="-output=m$i.qprof $options" \
            ./score $score "k$i(" $i ')' thread "t$i(" 'f(' 2 ')' ')'
    done
    compared() { both "b$n" import m1.qprof m2.qprof m3.qprof && if [ $n = 5 ]; then same_bytes b5; else now_same "b$n"; fi; }
    claim "$options: the same bytes" compared
done
claim "... also of requests that were kept whole" test "$(qprof store slow --format=json "$(on b$n)" | jq '.requests | length')" -ge 2
# Two servers that were filled apart have the same numbers, as those have that are filled by two at once.
apart() {
    for i in 1 2; do QPROF="-output=k$i.qprof -slowest=2/60s" ./score 'main(' '[/a' 2 'f(' 3 ')' ']' '[/b' $i 'f(' 1 ')' ']' ')' || return 1; done
    qprof store import "clickhouse:http://127.0.0.1:$port1/apart" k1.qprof >/dev/null &&
        qprof store import "clickhouse:http://127.0.0.1:$port2/apart" k2.qprof >/dev/null &&
        qprof store slow --format=json "$(on apart)" >slow.json && n=$(jq '.requests | length' slow.json) && test "$n" -ge 4 &&
        same "$n" "$(jq '[.requests[].number] | unique | length' slow.json)" || return 1
    for number in $(jq '.requests[].number' slow.json); do
        qprof store slow --show="$number" "$(on apart)" >"shown.$number" || return 1
    done
    same "$n" "$(cat shown.* | grep -c 'request ')"
}
claim "requests of two servers with the same numbers get numbers of their own" apart
unlike() { both mixed import a.qprof none.qprof; qprof store top "$(on mixed)" >got.c 2>&1; qprof store top mixed.db >got.f 2>&1
    sed -i "s|$(on mixed)|mixed.db|" got.c; cmp got.f got.c; }
QPROF='-output=none.qprof -time=none' ./score $score
claim "what does not add up is refused in the same words" unlike
later() {
    QPROF='-output=l.qprof' ./score 'main(' 1 save=l1.qprof 'f(' 2 ')' save=l2.qprof ')' 2>/dev/null
    [ -f l1.qprof ] && [ -f l2.qprof ] || return 1
    both states import l1.qprof c.qprof && both states import l2.qprof && both states import l1.qprof && same_bytes states
}
grep -q 'save=' "$here/host.c" && claim "a later state of a run replaces an earlier one" later

# ---- old profiles -------------------------------------------------------------------------------------------
rolled() {
    both old import a.qprof b.qprof c.qprof x.file.qprof m1.qprof m2.qprof && now_same old && both old roll --before=2100-01-01 && same_bytes old &&
        both old import a.qprof b.qprof && now_same old && both old remove --before=2100-01-01 --version=1 && now_same old &&
        both old import a.qprof b.qprof c.qprof && now_same old && both old roll --before=2100-01-01 && now_same old
}
claim "rolled, imported again, removed, imported again: the same bytes" rolled
two_roll() {
    qprof store import "$(on two)" a.qprof b.qprof c.qprof >/dev/null
    for i in 1 2 3 4; do QPROF_LABELS=service=web,version=1,host=a record r$i.qprof 'main(' $i ')'; done
    qprof store import "$(on two)" r1.qprof r2.qprof >/dev/null
    qprof store roll --before=2100-01-01 "$(on two)" >r1.out & first=$!
    qprof store import "$(on two)" r3.qprof >/dev/null & second=$!
    qprof store roll --before=2100-01-01 "$(on two)" >r2.out & third=$!
    wait $first && wait $second && wait $third && qprof store import "$(on two)" r4.qprof >/dev/null &&
        qprof store roll --before=2100-01-01 "$(on two)" >/dev/null && qprof store top --format=json "$(on two)" >top.json &&
        same "f 3 9000 9000
g 1 7000 7000
g 1 1000 1000
main 7 25000 42000" "$(figures top.json)"
}
claim "two that roll while one imports: the sums hold" two_roll

# ---- a folder -----------------------------------------------------------------------------------------------
mkdir proxy
echo pass >proxy/mode
python3 "$here/lossy_proxy.py" proxy "$port1" >proxy.log 2>&1 &
proxy_pid=$!
while [ ! -f proxy/port ]; do kill -0 $proxy_pid || { cat proxy.log; exit 1; }; sleep 0.05; done
# through DATABASE: the first shard as the proxy lets it
through() { echo "clickhouse:http://127.0.0.1:$(cat proxy/port)/$1,http://127.0.0.1:$port2/$1"; }
mode() { echo "$*" >proxy/mode; : >proxy/log; }
N=12 # profiles of a folder; profile i has i calls of f, i us each, below main with 1 us
fill() { for i in $(seq $N); do QPROF_LABELS=service=web,version=$((i % 3)) record f$i.qprof 'main(' 1 "f~$i" ')'; done; }
# parted DATABASE: each server has some; which one has a profile follows from a random number of the run
parted() {
    qprof store import "$(on "$1")" f?.qprof f??.qprof >/dev/null || exit 1
    test "$(sql 1 "SELECT count() FROM $1.qprof_profile")" -gt 0 && test "$(sql 2 "SELECT count() FROM $1.qprof_profile")" -gt 0
}
fill
n=0
until parted parted$n; do
    n=$((n + 1))
    fill
done
filled() { rm -rf spool && mkdir spool && cp f?.qprof f??.qprof spool/; }
qprof merge -o all.qprof f?.qprof f??.qprof >/dev/null
qprof report --format=json all.qprof | jq -c .methods >want.json
# whole DATABASE: all of the folder, once: the sum is that of merging, and the one by hand
whole() {
    qprof store top --format=json "$(on "$1")" | jq -c .methods >got.json && cmp got.json want.json &&
        same "f $((N * (N + 1) / 2)) main $N" "$(jq -r 'sort_by(.name) | map("\(.name) \(.calls)") | join(" ")' got.json)" &&
        qprof store check "$(on "$1")" >/dev/null
}
push() { qprof push --spool=spool "$@"; }
pushed() {
    filled && ends 0 push --to="$(on push)" && same "" "$(ls spool)" && same "" "$(cat err)" && whole push &&
        same "spool: $N profiles pushed with $((N + N * (N + 1) / 2)) calls" "$(cat out)"
}
claim "a folder is pushed to both" pushed
files_twice() {
    filled && for i in $(seq $N); do cp f$i.qprof spool/again$i.qprof; done
    ends 0 push --to="$(on files)" && same "" "$(ls spool)" && whole files && filled && ends 0 push --to="$(on files)" && whole files &&
        same $N "$(rows files.qprof_profile)"
}
claim "files that are there twice, and pushed again, are in it once" files_twice
answers_lost() {
    mode lose 5
    filled && ends 0 push --tries=9 --to="$(through lost)" && same "" "$(ls spool)" && grep -q ^lose proxy/log && whole lost
}
claim "answers that are lost change nothing" answers_lost
sent_in_part() {
    mode cut 7
    filled && ends 0 push --tries=9 --to="$(through part)" && same "" "$(ls spool)" && grep -q ^cut proxy/log && whole part
}
claim "a connection that breaks in the middle of a statement" sent_in_part
# shellcheck disable=SC2046  # words
record wide.qprof $(for i in $(seq 90); do echo "w$i(" 1 ')'; done)
too_large() {
    mode limit 4000
    large=clickhouse:http://127.0.0.1:$(cat proxy/port)/large
    filled && cp wide.qprof spool/ && ends 0 push --to="$large" && same "" "$(ls spool)" && same "" "$(cat err)" &&
        grep '^limit' proxy/log && mode pass && same 90 "$(qprof store top --format=json "$large" |
            jq '[.methods[] | select(.name | startswith("w")) | .calls] | add')"
}
claim "413 is cut further" too_large
refused() {
    mode insert 400
    filled && ends 1 push --to="$(through refused)" && [ -n "$(ls spool/quarantine)" ] && same quarantine "$(ls spool)" &&
        grep -q 'answers 400' err
    status=$?
    mode pass
    mv spool/quarantine/* spool/ && ends 0 push --to="$(through refused)" && whole refused && return $status
}
qprof store import "$(on refused)" f1.qprof >/dev/null
claim "what a server refuses is moved aside" refused
busy() {
    mode answer 503 3600
    filled && ends 1 push --to="$(through busy)" && n=$(ls spool | wc -l) && [ "$n" -gt 0 ] && [ "$n" -lt $N ] &&
        same 1 "$(grep -c 'answers 503' err)"
    status=$?
    mode pass
    ends 0 push --to="$(through busy)" && whole busy && return $status
}
qprof store import "$(on busy)" f1.qprof f2.qprof >/dev/null
claim "of a server that is busy the files stay, others are taken" busy

# ---- servers that die ---------------------------------------------------------------------------------------
dead_shard() {
    qprof store import "$(on dead)" f1.qprof >/dev/null && filled && down 2 KILL
    ends 1 push --tries=1 --to="$(on dead)" && n=$(ls spool | wc -l) && [ "$n" -gt 0 ] && [ "$n" -lt $N ]
    status=$?
    ends 2 qprof store top "$(on dead)" && grep -q "127.0.0.1:$port2" err || status=1
    up 2 && ends 0 push --to="$(on dead)" && whole dead && return $status
}
claim "of a shard that is down the files stay, and sums without it are refused" dead_shard
# killed in the middle of inserts, again and again
dying_shard() {
    for round in 1 2 3; do
        filled
        qprof push --spool=spool --tries=1 --to="$(on dying)" >out 2>err &
        pid=$!
        sleep 0.0$((round * 3))
        down 2 KILL
        wait $pid
        up 2 || return 1
    done
    ends 0 push --to="$(on dying)" && whole dying
}
claim "a shard that is killed in mid-insert, three times" dying_shard
# pushes killed KILLS times, each a little later
killed() {
    i=0
    filled
    while [ $i -lt "$1" ]; do
        qprof push --spool=spool --to="$(on killed)" >out 2>err &
        pid=$!
        sleep 0.0$((i % 10))$((i % 7))
        kill -9 $pid
        wait $pid
        i=$((i + 1))
        [ -n "$(ls spool)" ] || filled
    done 2>/dev/null
    ends 0 push --to="$(on killed)" && same "" "$(ls spool)" && whole killed
}
claim "a push that is killed at any moment loses and doubles nothing" killed "${KILLS:-20}"
two_pushes() {
    filled && mkdir -p spool2 && cp f?.qprof f??.qprof spool2/
    qprof push --spool=spool --to="$(on pair)" >out1 & first=$!
    qprof push --spool=spool2 --to="$(on pair)" >out2 & second=$!
    wait $first && wait $second && same "" "$(ls spool spool2 | tr -d ':\n' | sed 's/spool2*//g')" && whole pair
}
claim "two hosts that push the same files at once" two_pushes
resharded() {
    filled && ends 0 push --to="clickhouse:http://127.0.0.1:$port1/shards" && filled && ends 0 push --to="$(on shards)" &&
        whole shards && filled && ends 0 push --to="clickhouse:http://127.0.0.1:$port2/shards,http://127.0.0.1:$port1/shards" && whole shards
}
claim "a shard more, or in another order: a profile that is on two counts once" resharded
# profiles DATABASE...: how many of them are on the servers, a profile that two have counted twice
profiles() {
    count=0
    for database; do
        for server in 1 2; do
            count=$((count + $(sql $server "SELECT count() FROM $database.qprof_profile FINAL" | grep -x '[0-9]*' || echo 0)))
        done
    done
    echo $count
}
# more DATABASE: the addresses of both, through the proxy, after those of six more
more() {
    echo "clickhouse:$(for i in 1 2 3 4 5 6; do printf %s "http://127.0.0.1:$port2/$1$i,"; done)$(through "$1" | cut -d: -f2-)"
}
noted() {
    mode last
    filled && ends 1 push --tries=2 --to="$(through noted)" && n=$(ls spool | wc -l) && [ "$n" -gt 0 ] &&
        tr '\0' '\n' <spool/.sent-to >sent-to && grep -x "http://127.0.0.1:$(cat proxy/port)/noted" sent-to || { cat err sent-to proxy/log; return 1; }
    mode pass
    ends 0 push --to="$(more noted)" && same "" "$(ls -A spool)" && same $N "$(profiles noted noted1 noted2 noted3 noted4 noted5 noted6)" &&
        qprof store top --format=json "$(more noted)" | jq -c .methods >got.json && cmp got.json want.json
}
claim "what was sent in vain goes to the same server again, also when there are more by then" noted
kept_twice() {
    mode last
    rm -rf spool && mkdir spool && cp k1.qprof spool/ && ends 1 push --tries=3 --to="clickhouse:http://127.0.0.1:$(cat proxy/port)/twice" || return 1
    mode pass
    qprof store slow "clickhouse:http://127.0.0.1:$port1/twice" | sed "s|clickhouse:.*/twice|STORE|" >twice.c &&
        qprof store import twice.db k1.qprof >/dev/null && qprof store slow twice.db | sed 's|twice.db|STORE|' | cmp - twice.c
}
claim "requests of a profile whose row was sent three times are listed once" kept_twice
killed_and_more() {
    filled
    for delay in 2 4 6 8; do
        qprof push --spool=spool --to="$(through moved)" >out 2>err &
        pid=$!
        sleep 0.0$delay
        kill -9 $pid
        wait $pid
    done 2>/dev/null
    ends 0 push --to="$(more moved)" && same "" "$(ls -A spool)" && same $N "$(profiles moved moved1 moved2 moved3 moved4 moved5 moved6)" &&
        qprof store top --format=json "$(more moved)" | jq -c .methods >got.json && cmp got.json want.json
}
claim "... also of a push that was killed" killed_and_more
unnoted() {
    filled && mkdir spool/.sent-to && ends 1 push --to="$(on unnoted)" && same $N "$(ls spool | wc -l)" &&
        same 1 "$(wc -l <err)" && grep -q 'nothing is sent, as where it went cannot be noted' err && rmdir spool/.sent-to &&
        printf 'f1.qprof\0http://127.0.0.1:1/gone\0f2.qp' >spool/.sent-to && ends 0 push --to="$(on unnoted)" &&
        same "" "$(ls -A spool)" && whole unnoted
}
claim "notes that are damaged, or name a server that is gone" unnoted

# ---- names are data -----------------------------------------------------------------------------------------
hostile() {
    long=$(head -c 65000 /dev/zero | tr '\0' x)
    QPROF_LABELS="service=a'); DROP TABLE p;--,version=1,x=\\n\\'" record sql.qprof "m'); DROP TABLE hostile.qprof_method;--(" 7 "$(printf 'b\\\037\377')(" 1 ')' ')'
    QPROF_LABELS="service=s,version=2,long=$(echo "$long" | cut -c1-3000)" record long.qprof "$(echo "$long" | cut -c1-60000)(" 1 ')'
    cp sql.qprof "x'); DROP TABLE x;--.qprof" && both hostile import "x'); DROP TABLE x;--.qprof" long.qprof && same_bytes hostile
}
claim "SQL, odd bytes and 64 KB in names are data" hostile
claim "the database is no place for SQL" says 'expected http://HOST:PORT/DATABASE, the database of letters, digits and _' \
    qprof store list "clickhouse:http://127.0.0.1:$port1/a;DROP"
claim "a password in the address is not printed" says 'would be seen by others' qprof store list clickhouse:http://me:s3cret@127.0.0.1/a
claim "... " sh -c '! grep -q s3cret err out'
claim "no store" says 'not a store of qprof' qprof store list "$(on none)"
sql 1 'CREATE DATABASE newer' && sql 1 'CREATE TABLE newer.qprof_version (version UInt32) ENGINE = ReplacingMergeTree ORDER BY version' &&
    sql 1 'INSERT INTO newer.qprof_version VALUES (99)'
claim "a newer store is refused" says 'made by a newer qprof: its version is 99' qprof store list "clickhouse:http://127.0.0.1:$port1/newer"

# ---- damage -------------------------------------------------------------------------------------------------
damaged() {
    qprof store import "$(on damage)" a.qprof b.qprof c.qprof >/dev/null
    for i in 1 2; do sql $i 'TRUNCATE TABLE damage.qprof_sample'; done
    ends 1 qprof store check "$(on damage)" && same 3 "$(grep -c 'do not have the sums' err)" && ends 2 qprof store top "$(on damage)" &&
        grep -q 'damaged: its call paths do not have the sums' err
}
claim "rows that are lost are noticed, and no wrong sum is shown" damaged

finish
