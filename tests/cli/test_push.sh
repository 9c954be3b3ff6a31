#!/bin/sh
# test_push.sh: `qprof push` to servers: what arrives is what was recorded, by the field numbers of the public schemas, and whatever
# the server answers, a profile has arrived or is still in the folder. The server is push_receiver.py.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
. "$(dirname "$0")/lib.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY QPROF_PUSH_HEADERS
for tool in protoc python3; do
    command -v $tool >/dev/null || { echo "SKIP: $tool is missing"; exit 77; }
done
qprof version | grep -q 'push .*libcurl' || { echo "SKIP: qprof was built without libcurl"; exit 77; }
trap 'stop_server; rm -rf "$work"' EXIT

server_pid=
stop_server() { [ -z "$server_pid" ] || { kill "$server_pid"; wait "$server_pid"; } 2>/dev/null; server_pid=; }
# serve ANSWER...: a new server, which answers so, and an empty folder; its address is $url
serve() {
    stop_server
    rm -rf got spool && mkdir got spool
    for answer; do printf '%s\n' "$answer" >>got/plan; done
    # shellcheck disable=SC2086  # none or one
    python3 "$here/push_receiver.py" got $certificate >server.log 2>&1 &
    server_pid=$!
    while [ ! -f got/port ]; do
        kill -0 "$server_pid" || { cat server.log; return 1; }
        sleep 0.05
    done
    url=http${certificate:+s}://127.0.0.1:$(cat got/port)
}
certificate=
push() { qprof push --spool=spool "$@"; }
requests() { find got -name '*.body' | wc -l | tr -d ' '; }
decoded() { python3 "$here/push_decode.py" "$1" "$here/push.proto" "got/$2.body"; }

QPROF_LABELS=service=web,version=1,region=eu record a.qprof 'main(' 5 'f(' 1 ')' 'g(' 2 'f(' 3 ')' ')' ')'
record b.qprof 'main(' 4 ')'

# ---- what arrives -----------------------------------------------------------------------------------------
# 4 calls; main 5 us, f 1 in main and 3 in g, g 2
stacks='stack calls 1 main
stack calls 1 main;f
stack calls 1 main;g
stack calls 1 main;g;f
stack wall 1000 main;f
stack wall 2000 main;g
stack wall 3000 main;g;f
stack wall 5000 main
sum calls 4
sum wall 11000
type calls count
type wall nanoseconds'
arrives() {
    serve && cp a.qprof spool/ && ends 0 push --to="$1:$url" &&
        same "spool: 1 profile pushed with 4 calls" "$(cat out)" && same "" "$(cat err)" && same "" "$(ls spool)" &&
        decoded "$1" 1 >decoded && same "$stacks" "$(grep -E '^(stack|sum|type)' decoded)"
}
claim "Pyroscope: every path with its figures" arrives pyroscope
claim "... at its address" grep -q '^POST /push.v1.PusherService/Push ' got/1.head
claim "... with labels" same "__name__ wall,host $(hostname),region eu,service_name web,version 1" \
    "$(sed -n 's/^label //p' decoded | paste -sd ,)"
claim "... with an id" grep -Eq '^id [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' decoded
claim "OTLP: every path with its figures" arrives otlp
claim "... at its address" grep -q '^POST /v1development/profiles ' got/1.head
claim "... with attributes" same "host.name $(hostname),region eu,service.name web,service.version 1" \
    "$(sed -n 's/^label //p' decoded | paste -sd ,)"
claim "... an id for each value" same 2 "$(grep '^id' decoded | sort -u | wc -l | tr -d ' ')"
the_same_id() {
    serve && cp a.qprof spool/ && push --to="otlp:$url" >out && cp a.qprof spool/ && push --to="otlp:$url" >out &&
        same "$(decoded otlp 1)" "$(decoded otlp 2)"
}
claim "a profile has the same id whenever it is sent" the_same_id
own_keys() {
    QPROF_LABELS=service=web,service.name=mine,host.name=h,host.name=h2,service_name=x record keys.qprof 'main(' 1 ')'
    serve && cp keys.qprof spool/ && ends 0 push --to="otlp:$url" && decoded otlp 1 >decoded &&
        same "$1" "$(sed -n 's/^label //p' decoded | sort | paste -sd ,)"
}
claim "a label replaces the attribute of its name" own_keys "host.name h2,service.name mine,service_name x"
arguments_stay_here() {
    QPROF="-output=s.qprof -record-arguments=yes" ./score 'main(' 1 ')' 'hunter2?' 'h(' 1 ')'
    qprof info s.qprof | grep -q hunter2 || return 1
    serve && cp s.qprof spool/ && push --to="otlp:$url" >out && cp s.qprof spool/ && push --to="pyroscope:$url" >out &&
        for i in 1 2; do gzip -dc got/$i.body 2>/dev/null | grep -c hunter2; done >found
    decoded pyroscope 2 >found2 && same 0 "$(grep -c hunter2 found2)" && same 0 "$(head -n 1 found)"
}
claim "arguments of the program are not sent" arguments_stay_here
names_are_data() {
    serve
    QPROF_LABELS="service=a'); DROP TABLE p;--,2x=y,__name__=z,x-y=1,x.y=2" record x.qprof "m'); DROP TABLE methods;--(" 7 ')'
    cp x.qprof "spool/x'); DROP TABLE x;--.qprof"
    printf x >"spool/$(printf 'n\nl').qprof.1" && cp a.qprof 'spool/-rf %s $(x).qprof'
    ends 1 push --to="pyroscope:$url" && same quarantine "$(ls spool)" &&
        same "$(printf 'n\nl').qprof.1" "$(ls spool/quarantine)" && same 1 "$(wc -l <err | tr -d ' ')" &&
        decoded pyroscope 2 >decoded && grep -qx "stack wall 7000 m'); DROP TABLE methods;--" decoded &&
        grep -qx "label service_name a'); DROP TABLE p;--" decoded && grep -qx 'label _x y' decoded &&
        grep -qx 'label x_y 1' decoded && same 1 "$(grep -c '^label x_y' decoded)" &&
        same "label __name__ wall" "$(grep '^label __' decoded)"
}
claim "names of files, functions and labels are data" names_are_data

# ---- cut to limits ------------------------------------------------------------------------------------------
# 20,841 paths: 40 functions call 20 others, which call 25 more
python3 -c '
print("main(")
for a in range(40):
    print("a%d(" % a, 1 + a % 3)
    for b in range(20):
        print("b%d(" % b, 1 + a * b % 7)
        for c in range(25):
            print("c%d(" % c, 1 + (a * 31 + b * 17 + c * 7) % 97, ")")
        print(")")
    print(")")
print(")")' | tr ' ' '\n' >score.words
# shellcheck disable=SC2046  # words
record many.qprof $(cat score.words)
qprof export --to=folded -o many.folded many.qprof
qprof export --to=folded --calls -o many.calls many.qprof
oracle() { python3 "$here/push_oracle.py" "$@"; }
# cut SCHEME SAMPLES FRAMES PROFILE ANSWER...: the last request is cut to that, and all sums are as recorded
cut_is_right() {
    scheme=$1 samples=$2 frames=$3 profile=$4
    shift 4
    serve "$@" && cp "$profile.qprof" spool/ && ends 0 push --to="$scheme:$url" && decoded "$scheme" "$(requests)" >sent &&
        oracle sent "$profile.folded" wall "$samples" "$frames" && same "" "$(ls spool)"
}
claim "16,000 samples, the sums are kept" cut_is_right pyroscope 16000 1000 many
claim "... and nearly all of them are used" test "$(sed -n 's/^most \([0-9]*\).*/\1/p' sent)" -gt 15900
claim "... and it says how much is in <other>" same "spool: 1 profile pushed with 20,841 calls, $(awk '/^stack wall/ { all += $3 }
    /^stack wall .*<other>$/ { rest += $3 } END { printf "%.1f", 100 * rest / all }' sent) % of the time went to <other>" "$(cat out)"
claim "... calls too" same "sum calls $(awk '{ n += $NF } END { print n }' many.calls)" "$(grep '^sum calls' sent)"
claim "413 is cut further" cut_is_right pyroscope 4000 1000 many 413 413 200
claim "... and nearly all are used" test "$(sed -n 's/^most \([0-9]*\).*/\1/p' sent)" -gt 3900
claim "... and sent again" same 3 "$(requests)"
claim "until it is small enough" cut_is_right pyroscope 2000 1000 many 'below 9000' 'below 9000' 'below 9000' 'below 9000' \
    'below 9000' 'below 9000' 'below 9000' 'below 9000'
claim "OTLP has them all" cut_is_right otlp 20841 1024 many
claim "... cut at 413" cut_is_right otlp 10420 1024 many 413
never_small_enough() {
    serve 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' 'below 1' \
        'below 1' 'below 1' 'below 1' 'below 1' 'below 1'
    cp a.qprof spool/ && ends 1 push --to="pyroscope:$url" && same a.qprof "$(ls spool/quarantine)" && same 3 "$(requests)"
}
claim "a server that takes nothing at all refuses the file" never_small_enough
record deep.qprof 'main(' 3 'r*1015(' 9 'x(' 4 ')' ')*1015' 'side(' 2 ')' ')'
qprof export --to=folded -o deep.folded deep.qprof
claim "1,000 frames, the sums are kept" cut_is_right pyroscope 16000 1000 deep
claim "... the rest is the last frame" same "1000 <other>" \
    "$(awk '/^stack wall/ { n = split($4, f, ";"); if (n > 999) print n, f[n] }' sent)"
record deeper.qprof 'main(' 3 'r*5000(' 9 ')*5000' ')'
deeper() {
    serve && cp deeper.qprof spool/ && push --to="pyroscope:$url" >out && decoded pyroscope 1 >sent &&
        same "sum wall 12000" "$(grep '^sum wall' sent)" && same "sum calls 5001" "$(grep '^sum calls' sent)"
}
claim "5,000 frames" deeper

# ---- answers ------------------------------------------------------------------------------------------------
# stays STATUS REQUESTS PATTERN WORDS...: a file stays, with one line that says so; no answer is waited for too long
stays() {
    n=$1 pattern=$2
    shift 2
    cp a.qprof spool/ && ends 1 push "$@" && same a.qprof "$(ls spool)" && same "$n" "$(requests)" &&
        same 1 "$(wc -l <err | tr -d ' ')" && { grep -Eq -- "$pattern" err || { cat err; return 1; }; }
}
busy_then_taken() {
    serve '503 1' 503 200 && cp a.qprof spool/ && ends 0 push --to="pyroscope:$url" && same 3 "$(requests)" && same "" "$(ls spool)"
}
claim "a busy server is asked again" busy_then_taken
busy() { serve 503 503 503 && stays 2 'answers 503: busy: spool/a.qprof stays, with all after it$' --tries=2 --to="otlp:$url"; }
claim "a server that stays busy" busy
asks_for_an_hour() { serve '503 3600' && stays 1 'answers 503' --to="otlp:$url"; }
claim "one that asks for an hour is not waited for" asks_for_an_hour
unauthorized() { serve '401 who are you' && cp b.qprof spool/ && cp a.qprof spool/ && ends 1 push --to="otlp:$url" &&
    same "a.qprof b.qprof" "$(ls spool | tr '\n' ' ' | sed 's/ $//')" && same 1 "$(requests)" && grep -q 'who are you' err; }
claim "credentials that are wrong are not the file's fault" unauthorized
bad_file() {
    serve '400 no such label' && cp a.qprof b.qprof spool/ && ends 1 push --to="pyroscope:$url" && same 2 "$(requests)" &&
        same quarantine "$(ls spool)" && same a.qprof "$(ls spool/quarantine)" &&
        grep -q 'spool/a.qprof: .* answers 400: no such label; moved to spool/quarantine/a.qprof$' err &&
        same "spool: 1 profile pushed with 1 call, 1 moved to quarantine" "$(cat out)"
}
claim "a file that the server refuses is set aside, and the next is sent" bad_file
partial() {
    serve '200 \x0a\x07\x08\x01\x12\x03bad' '200 \x0a\x06\x12\x04fine' '200 \x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' &&
        cp a.qprof spool/ && ends 1 push --to="otlp:$url" && same a.qprof "$(ls spool/quarantine)" &&
        grep -q 'the server left it out: bad; moved to' err && rm -r spool/quarantine &&
        cp a.qprof spool/ && ends 0 push --to="otlp:$url" && cp a.qprof spool/ && ends 0 push --to="otlp:$url"
}
claim "OTLP: taken, but left out" partial
hangs() { serve hang hang && stays 2 'a.qprof stays' --timeout=200ms --tries=2 --to="pyroscope:$url"; }
claim "no answer" hangs
half() { serve half && cp a.qprof spool/ && ends 0 push --to="pyroscope:$url" && same 2 "$(requests)"; }
claim "an answer that breaks off" half
long() { serve long && cp a.qprof spool/ && ends 0 push --to="pyroscope:$url" && same 1 "$(requests)" && same "" "$(ls spool)"; }
claim "an answer without an end: the profile was taken" long
long_failure() { serve 'long 500' && stays 1 'answers 500' --tries=1 --to="otlp:$url"; }
claim "... or was not" long_failure
login_first() {
    serve 'page <html>log in</html>' && stays 1 'answers 200 with text/html, which is no answer of such a server: spool/a.qprof stays' --to="$1:$url"
}
claim "a page is no answer of Pyroscope" login_first pyroscope
claim "... nor of OTLP" login_first otlp
says_why() { serve 'status 400 \x08\x03\x12\x07too old' && cp a.qprof spool/ && ends 1 push --to="otlp:$url" &&
    grep -q 'answers 400: too old; moved' err; }
claim "OTLP: the message of an error" says_why
# odd Retry-After forms: the second try comes after the usual wait
odd_retry() { serve "503 $1" && cp a.qprof spool/ && ends 0 push --to="otlp:$url" && same 2 "$(requests)"; }
claim "Retry-After: 120a" odd_retry 120a
claim "Retry-After: 1e3" odd_retry 120e1
huge_retry() { serve "503 99999999999999999999" && stays 1 'answers 503' --to="otlp:$url"; }
claim "Retry-After that is huge" huge_retry
# a.qprof, b.qprof and c.qprof: the first one is tried in vain
poisoned() {
    serve 503 200 200 && cp a.qprof spool/ && cp b.qprof spool/ && cp b.qprof spool/c.qprof && ends 1 push --tries=1 --to="otlp:$url" &&
        same a.qprof "$(ls spool)" && same 3 "$(requests)" && same "spool: 2 profiles pushed with 2 calls, 1 left" "$(cat out)" &&
        same "qprof push: $url/v1development/profiles answers 503: busy: spool/a.qprof stays, others are taken" "$(cat err)"
}
claim "a file that a server cannot take keeps no other back" poisoned
down() {
    serve 500 500 && cp a.qprof spool/ && cp b.qprof spool/ && cp b.qprof spool/c.qprof && ends 1 push --tries=1 --to="otlp:$url" &&
        same 3 "$(ls spool | wc -l | tr -d ' ')" && same 2 "$(requests)" && same 1 "$(wc -l <err | tr -d ' ')" &&
        grep -q 'answers 500: spool/a.qprof stays, with all after it$' err
}
claim "where the next one fails too, it is the server" down
redirect() {
    serve 200 && cp -r got other && other=$server_pid && server_pid= && serve "302 http://127.0.0.1:$(cat other/port)/x" &&
        stays 1 'answers 302' --to="otlp:$url"
    status=$?
    kill "$other"
    return $status
}
claim "a redirect is not followed" redirect
no_server() { serve && stop_server && stays 0 "onnect" --tries=2 --to="pyroscope:$url"; }
claim "no server" no_server
no_place_aside() {
    serve '400 no' && : >spool/quarantine && cp a.qprof spool/ && ends 1 push --to="pyroscope:$url" &&
        same "a.qprof quarantine" "$(ls spool | tr '\n' ' ' | sed 's/ $//')" && grep -q 'cannot be moved to quarantine' err
}
claim "what cannot be set aside stays" no_place_aside
coverage_alone() {
    serve && QPROF='-collect=coverage -output=spool/c.qprof' ./score 'f(' ':1' ')' && ends 1 push --to="otlp:$url" &&
        same c.qprof "$(ls spool/quarantine)" && grep -q 'only coverage' err && same 0 "$(requests)"
}
claim "coverage alone is no profile for them" coverage_alone
killed() {
    serve hang && cp a.qprof b.qprof spool/ || return 1
    qprof push --spool=spool --to="pyroscope:$url" >out 2>err &
    pid=$!
    while [ ! -f got/1.body ]; do sleep 0.02; done
    kill -9 $pid
    wait $pid 2>/dev/null
    same "a.qprof b.qprof" "$(ls spool | tr '\n' ' ' | sed 's/ $//')" && ends 0 push --to="pyroscope:$url" &&
        same "" "$(ls spool)" && decoded pyroscope 2 >first && decoded pyroscope 1 >killed && same "$(cat killed)" "$(cat first)"
}
claim "a push that is killed sends again" killed

# ---- credentials and addresses ------------------------------------------------------------------------------
secret() {
    printf '# of the server\nAuthorization: Bearer s3cret\r\n\nX-Scope-OrgID: team\n' >headers && chmod 600 headers
    serve '401 no' && cp a.qprof spool/ && ends 1 push --header-file=headers --to="otlp:$url" && ! grep -q s3cret out err &&
        grep -q '^Authorization: Bearer s3cret' got/1.head && grep -q '^X-Scope-OrgID: team' got/1.head &&
        QPROF_PUSH_HEADERS='Authorization: Bearer 0ther' ends 0 push --to="otlp:$url" && grep -q 'Bearer 0ther' got/2.head
}
claim "headers come from a file or the environment, and are not printed" secret
printf 'Authorization: x\nBearer s3cret\n' >bad && chmod 600 bad
claim "a line that is no header is not printed" says 'push: bad: line 2 is not NAME: VALUE$' push --header-file=bad --to=otlp:http://127.0.0.1:1
for name in Content-Length Content-Encoding host; do
    printf '%s: 1\n' $name >own && chmod 600 own
    claim "$name is not the user's" says 'push: own: line 1: .* is set by qprof itself$' push --header-file=own --to=otlp:http://127.0.0.1:1
done
: >open && chmod 644 open
claim "a file of headers that others can read" says '--header-file=open: other users can read it' push --header-file=open --to=otlp:http://127.0.0.1:1
claim "of two targets one would get nothing" says '--to is given twice$' push --to=sqlite:x.db --to=otlp:http://127.0.0.1:1
claim "no target" says 'missing --to=TARGET: sqlite:FILE, clickhouse:.*, pyroscope:.* or otlp:' push
for every in 1e3 0x10 100ms 0 -1s; do
    claim "--every=$every" says "every=$every: expected a time of 1s or more" push --every=$every --to=otlp:http://127.0.0.1:1
done
claim "a password in the address" says 'would be seen by others: use --header-file=FILE' push --to=otlp:http://me:s3cret@127.0.0.1:1
claim "... is not printed" sh -c '! grep -q s3cret err'
claim "an address of another kind" says 'expected http://HOST:PORT' push --to=otlp:ftp://127.0.0.1
claim "no address" says 'expected http://HOST:PORT' push --to=pyroscope:http://
claim "a question in it" says 'a character in the address is not allowed there' push --to='otlp:http://127.0.0.1/?x'
claim "another target" says 'expected sqlite:FILE, clickhouse:http://HOST:PORT/DATABASE,..., pyroscope:http://HOST:PORT or otlp:http://HOST:PORT$' push --to=mysql:x
claim "a time" says '--timeout=soon: expected a time' push --timeout=soon --to=otlp:http://127.0.0.1:1
claim "a number of tries" says '--tries=0: expected at least 1' push --tries=0 --to=otlp:http://127.0.0.1:1
over_tls() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 2>/dev/null && cat key.pem cert.pem >both.pem && certificate=both.pem && serve &&
        stays 0 'certificate' --to="otlp:$url" && ends 0 push --ca-file=cert.pem --to="otlp:$url" && same "" "$(ls spool)"
    status=$?
    certificate=
    return $status
}
as=
[ "$(id -u)" = 0 ] && as='setpriv --reuid=65534 --clear-groups'
unwritable() {
    serve && cp a.qprof spool/ && chmod 755 . got && chmod 644 spool/a.qprof && chmod 555 spool || return 1
    # shellcheck disable=SC2086  # words
    ends 2 $as qprof push --spool=spool --to="otlp:$url"
    status=$?
    chmod 755 spool
    [ $status = 0 ] && same 0 "$(requests)" && same 1 "$(wc -l <err | tr -d ' ')" && grep -q 'spool: nothing is sent, as files could' err
}
sticky() {
    serve && cp a.qprof spool/ && chmod 755 . got && chmod 644 spool/a.qprof && chmod 1777 spool || return 1
    # shellcheck disable=SC2086  # words
    ends 1 $as qprof push --spool=spool --to="otlp:$url" && same 0 "$(requests)" && same 1 "$(wc -l <err | tr -d ' ')" &&
        grep -q 'spool/a.qprof: a file of another user' err
}
[ -z "$as" ] || command -v setpriv >/dev/null && claim "nothing is sent from a folder that files cannot be removed from" unwritable
[ -n "$as" ] && command -v setpriv >/dev/null && claim "... nor a file that cannot" sticky
elsewhere() {
    serve '400 no' && mkdir -p elsewhere && ln -s ../elsewhere spool/quarantine && cp a.qprof spool/ && ends 1 push --to="pyroscope:$url" &&
        same "" "$(ls elsewhere)" && [ -f spool/a.qprof ] && same 1 "$(wc -l <err | tr -d ' ')" &&
        grep -q 'cannot be moved to quarantine: a file or a link has the name of the folder$' err
}
claim "a link in place of quarantine is not followed" elsewhere
command -v openssl >/dev/null && claim "https, to servers with a certificate that is trusted" over_tls

# ---- again and again ----------------------------------------------------------------------------------------
until_gone() { while [ -n "$(ls "$1")" ]; do kill -0 "$2" || return 1; sleep 0.05; done; }
to_this() {
    serve 503 200 && cp a.qprof spool/ || return 1
    qprof push --spool=spool --every=1s --tries=1 --to="pyroscope:$url" >out 2>err &
    pid=$!
    until_gone spool $pid && cp b.qprof spool/ && until_gone spool $pid && kill -TERM $pid
    wait $pid
    same 0 $? && same "spool: 1 profile pushed with 4 calls
spool: 1 profile pushed with 1 call" "$(sed -n '/1 profile/p' out)" && same 1 "$(grep -c 503 err)"
}
claim "an agent pushes new files, and ends at a signal" to_this
to_store() {
    rm -rf spool && mkdir spool && cp a.qprof spool/
    qprof push --spool=spool --every=1s --to=sqlite:agent.db >out 2>err &
    pid=$!
    until_gone spool $pid && cp b.qprof a.qprof spool/ && until_gone spool $pid && kill -INT $pid
    kill -TERM $pid 2>/dev/null
    wait $pid
    same 0 $? && same "" "$(cat err)" && same 5 "$(qprof store list --format=json agent.db | jq '[.profiles[].calls] | add')"
}
claim "the same for a store" to_store
# ends_while_it_waits STATUS SECONDS WHEN: a server asks for that time; the signal comes when WHEN is so
ends_while_it_waits() {
    serve "503 $2" && cp a.qprof spool/ || return 1
    qprof push --spool=spool --every=1h --to="pyroscope:$url" >out 2>err &
    pid=$!
    until $3; do kill -0 $pid && sleep 0.02 || return 1; done
    kill -TERM $pid
    wait $pid
    expr $? : "$1\$" && same a.qprof "$(ls spool)" && same 1 "$(requests)"
}
claim "it does not wait for a server then" ends_while_it_waits 1 3600 'grep -q stays err'
# 0 if the signal comes before the answer
claim "... nor in the middle of tries" ends_while_it_waits '[01]' 30 'test -f got/1.body'
# interrupted SIGNAL: while a request has no answer; it would be waited for an hour
interrupted() {
    serve hang && cp a.qprof b.qprof spool/ || return 1
    qprof push --spool=spool --every=1h --timeout=1h --to="pyroscope:$url" >out 2>err &
    pid=$!
    while [ ! -f got/1.body ]; do sleep 0.02; done
    kill "-$1" $pid
    wait $pid
    same 0 $? && same "a.qprof b.qprof" "$(ls spool | paste -sd ' ')" && same "" "$(cat err out)" && same 1 "$(requests)"
}
claim "a signal ends a request" interrupted TERM
claim "... SIGINT too" interrupted INT
two_at_once() {
    serve hang 200 200 && cp a.qprof b.qprof spool/ || return 1
    qprof push --spool=spool --every=1h --timeout=1h --to="pyroscope:$url" >out1 2>err1 &
    pid=$!
    while [ ! -f got/1.body ]; do sleep 0.02; done
    ends 1 push --to="pyroscope:$url" && same "qprof push: another push is at work in spool" "$(cat err)" &&
        ends 1 push --to=sqlite:two.db && same 1 "$(requests)" && [ ! -e two.db ]
    status=$?
    qprof push --spool=spool --every=1s --to="pyroscope:$url" >out2 2>err2 &
    waits=$!
    while [ ! -s err2 ]; do sleep 0.05; done
    kill $pid
    wait $pid
    until_gone spool $waits && kill $waits
    wait $waits
    same 0 $? && same "qprof push: another push is at work in spool; this one waits" "$(cat err2)" && same 3 "$(requests)" && return $status
}
claim "one push at a time empties a folder" two_at_once
tried_last() {
    serve 503 'move later spool/c.qprof' 200 503 && cp a.qprof spool/ && cp b.qprof spool/ && cp b.qprof later || return 1
    qprof push --spool=spool --every=1s --tries=1 --to="otlp:$url" >out 2>err &
    pid=$!
    until_gone spool $pid && kill $pid
    wait $pid
    decoded otlp 3 | grep -qx 'sum calls 1'
}
claim "what failed is tried last in the next round" tried_last
said_once() {
    serve 500 500 200 && mkdir spool/d.qprof && cp a.qprof spool/ || return 1
    qprof push --spool=spool --every=1s --tries=1 --to="otlp:$url" >out 2>err &
    pid=$!
    while [ -e spool/a.qprof ]; do kill -0 $pid || return 1; sleep 0.05; done
    kill $pid
    wait $pid
    same 3 "$(requests)" && same 1 "$(grep -c 'answers 500' err)" && same 1 "$(grep -c 'd.qprof: not a file; it stays' err)"
}
claim "an agent says once why a file stays" said_once
next_try() {
    serve '503 3600' && cp a.qprof spool/ || return 1
    rm -f err
    qprof push --spool=spool --every=1s --to="otlp:$url" >out 2>err &
    pid=$!
    while [ ! -s err ]; do kill -0 $pid || return 1; sleep 0.05; done
    kill $pid
    wait $pid
    grep -Eq 'a.qprof stays, with all after it; next try in 3[0-9]{3} s$' err
}
claim "... and when it tries again, if the server asks for long" next_try
# FILES=10000: as many files as the bound is claimed for
memory() {
    serve && python3 - "${FILES:-300}" "$@" "$url" <<'END'
import os, resource, shutil, subprocess, sys
n, scheme, url = int(sys.argv[1]), sys.argv[2], sys.argv[3]
for i in range(n):
    shutil.copy("b.qprof", "spool/%d.qprof" % i)
to = scheme + ":" + (url if scheme != "sqlite" else "memory.db")
subprocess.run(["qprof", "push", "--spool=spool", "--to=" + to], check=True, stdout=subprocess.DEVNULL)
kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert not os.listdir("spool") and kib <= 64 << 10, kib
print(n, "files:", kib, "KiB", file=sys.stderr)
END
}
for scheme in pyroscope otlp sqlite; do claim "$scheme: at most 64 MiB of memory" memory $scheme; done
finish
