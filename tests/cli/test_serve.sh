#!/bin/sh
# test_serve.sh: `qprof serve`: its pages have the figures of `qprof store`, it admits only who may ask, and no client
# holds it.
[ -w /dev/shm ] && export TMPDIR=/dev/shm # each import waits for the disk
. "$(dirname "$0")/lib.sh"
qprof version | grep -q 'qprof serve is built in' || { echo "qprof serve is not built in"; exit 77; }
qprof version | grep -q 'qprof html is built in' || { echo "npm is missing"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }

begun=
trap 'for pid in $begun; do kill $pid; done 2>/dev/null; rm -rf "$work"' EXIT

# serve FLAG...: in the background; sets $address and $server
serve() {
    rm -f address
    qprof serve --port=0 "$@" >address 2>serve.err &
    server=$!
    begun="$begun $server"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -s address ] && break
        sleep 0.1
    done
    address=$(cat address)
    [ -n "$address" ] || { cat serve.err; return 1; }
}

ask() {
    python3 "$here/serve.py" "$address" "$@"
}

evil='x</script><script>"&'"'); DROP TABLE profile; --"
for version in 1 2; do
    for i in 1 2 3; do
        QPROF="-output=w$version$i.qprof -collect=profile,coverage -labels=service=web,version=$version,host=h$i" ./score \
            'main(' $version 'f(' $((version * 5 + i)) ')' 'f(' 1 ')' 'g(' 3 ')' ')' idle?
    done
done
QPROF_LABELS="service=$evil,version=$evil" record evil.qprof "$evil(" 3 ')'
qprof store import fleet.db w*.qprof evil.qprof >/dev/null
QPROF="-output=slow.qprof -slowest=2 -labels=service=shop,version=1,host=h1" ./score 'main(' '[GET /a' 'f(' 3 ')' ']' '[b' 'f(' 9 ')' ']' ')'
qprof store import fleet.db slow.qprof >/dev/null
cp fleet.db same.db

# ---- the figures ------------------------------------------------------------------------------------
serve fleet.db || exit 1
claim "one line: the address" grep -Eqx 'http://127.0.0.1:[0-9]+/' address

# as_printed PATH WORDS...: the bytes of a command
as_printed() {
    path=$1
    shift
    qprof store "$@" --format=json same.db >wanted.json && ask body "$path" | cmp - wanted.json
}
claim "the list" as_printed /list.json list
claim "series" as_printed '/series.json?by=version' series --by=version
claim "functions" as_printed '/top.json?service=web&version=2&sort=calls' top --service=web --version=2 --sort=calls
claim "empty fields are ignored" as_printed '/top.json?service=web&version=&label=&since=' top --service=web
claim "labels" as_printed '/top.json?label=host%3Dh1&label=version=2' top --label=host=h1 --label=version=2
claim "tree" as_printed '/tree.json?service=web&depth=2' tree --service=web --depth=2
claim "requests" as_printed '/requests.json?service=web&sort=name' requests --service=web --sort=name
claim "slow requests" as_printed '/slow.json?service=shop&endpoint=b' slow --service=shop --endpoint=b
claim "... one of them" as_printed '/slow.json?show=2' slow --show=2
claim "dead code" as_printed '/dead.json?service=web' dead --service=web
claim "changes" as_printed '/diff.json?service=web&base=1&new=2' diff --service=web --base=1 --new=2
claim "changes by another label" as_printed '/diff.json?service=web&base=host%3Dh1&new=host%3Dh3' \
    diff --service=web --base=host=h1 --new=host=h3
claim "SQL in names is data" as_printed "/top.json?service=$(printf %s "$evil" | jq -sRr @uri)" top "--service=$evil"

the_pages_have_them() {
    qprof store series --by=version --service=web --format=json same.db >series.json
    qprof store series --by=day --format=json same.db >day.json
    qprof store top --service=web --version=2 --format=json same.db >top.json
    qprof store dead --service=web --format=json same.db >dead.json
    qprof store diff --service=web --base=1 --new=2 --format=json same.db >diff.json
    ask start '/?by=version&service=web' series.json && ask start / day.json &&
        ask window '/window?service=web&version=2' top.json && ask dead '/dead?service=web' dead.json &&
        ask diff '/diff?service=web&base=1&new=2' diff.json
}
claim "the pages have the same figures" the_pages_have_them
by_hand() { # f of version 2: 11 + 12 + 13 us and 1 us in each
    ask body '/top.json?service=web&version=2' | jq -r '.methods[] | select(.name == "f") | "\(.calls) \(.self)"' >f
    same "6 39000" "$(cat f)"
}
claim "as worked out by hand" by_hand
markup_is_text() {
    ask body / >start.html && ask body "/window?service=$(printf %s "$evil" | jq -sRr @uri)" >window.html &&
        grep -q 'DROP TABLE' start.html && grep -q 'DROP TABLE' window.html || return 1
    # but for the evil one, </script> ends what the page itself begins
    for page in start.html window.html; do
        same "$(grep -o '<script' $page | wc -l)" "$(grep -o '</script>' $page | wc -l)" &&
            ! grep -q 'x</script><script>' $page || return 1
    done
}
claim "HTML in names is text" markup_is_text

# ---- who may ask, and what --------------------------------------------------------------------------------
claim "other Host headers are refused" ask hosts
claim "hostile addresses are refused" ask hostile
claim "only GET and HEAD" ask methods
claim "headers restrict what a page may do" ask headers
claim "at another address it is not there" ask refuses 127.0.0.2
both_addresses() {
    [ -e /proc/net/if_inet6 ] && grep -q '^00000000000000000000000000000001' /proc/net/if_inet6 || return 0
    address=$(echo "$address" | sed 's/127.0.0.1/[::1]/') && python3 "$here/serve.py" "$address" status 200 /
}
claim "IPv6 is served, where there is any" both_addresses
taken() { says 'Address already in use' qprof serve --port="$(echo "$address" | sed 's/.*:\([0-9]*\).*/\1/')" fleet.db; }
claim "a port that is taken" taken

# ---- the store changes --------------------------------------------------------------------------------------
grows() {
    record more.qprof 'more(' 5 ')' && qprof store import fleet.db more.qprof >/dev/null &&
        same 9 "$(ask body /list.json | jq '.profiles | length')"
}
claim "what is imported meanwhile is seen" grows
vanishes() {
    mkdir -p away && mv fleet.db* away/ && ask trouble 503 / 'fleet.db: no such file' &&
        ask trouble 503 /window 'no such file' && ask body /top.json | jq -e '.error | test("no such file")' &&
        mv away/* . && ask status 200 /
}
claim "the page says that the store is gone" vanishes
damaged() {
    cp fleet.db whole.db && head -c 8192 whole.db >fleet.db && ask trouble 503 / 'damaged' && ask trouble 503 /window damaged
    damaged_status=$?
    cp whole.db fleet.db && ask status 200 / && return $damaged_status
}
claim "and that it is damaged" damaged
claim "nothing fits" ask trouble 422 '/window?service=none' 'fleet.db: no profile of it fits'
claim "a moment that is none" ask trouble 400 '/window?since=soon' 'since=soon: expected a moment'
claim "a side is missing" ask trouble 400 '/diff?base=1' '^missing new'
read_only() { ask body /window >/dev/null; sha256sum fleet.db >after; cmp before after; }
sha256sum fleet.db >before
claim "the store is only read" read_only

# ---- clients that take their time -------------------------------------------------------------------------------
claim "other clients do not wait for an answer that waits" ask waits fleet.db
claim "slow clients are left" ask slow
claim "idle connections leave when others come" ask crowd

# ---- the end --------------------------------------------------------------------------------------------------
# ended SIGNAL: with exit status 0, whatever clients do
ended() {
    python3 "$here/serve.py" "$address" hold >held &
    holder=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -s held ] && break
        sleep 0.1
    done
    kill -s "$1" "$server" && wait "$server"
    ended_status=$?
    kill $holder
    same 0 $ended_status && same "" "$(cat serve.err)"
}
claim "SIGTERM ends it cleanly" ended TERM
serve fleet.db || exit 1
claim "SIGINT as well" ended INT

# ---- limits and tokens --------------------------------------------------------------------------------------------
small() { serve --max-memory=1M fleet.db && ask status 503 /window && ask status 404 /x && kill "$server" && wait "$server"; }
claim "an answer has a limit of memory, and the server continues" small
tiny() { serve --max-memory=1 fleet.db && ask status 503 /top.json && ask status 503 /window && kill "$server" && wait "$server"; }
claim "one of a byte as well" tiny
lazy() {
    serve fleet.db && n_page=$(ask body /window | wc -c) && kill "$server" && wait "$server" && serve --max-unread=$((n_page * 3 / 2)) fleet.db &&
        ask unread && kill "$server" && wait "$server"
}
claim "answers that are not read have a limit" lazy
claim "a limit that is none" says '--max-unread=x: expected a size' qprof serve --max-unread=x fleet.db
broken() { # the columns of the profiles, not the database
    cp same.db broken.db && sql broken.db "UPDATE profile SET segment = x'00'" && serve broken.db && ask refused 503 /top.json damaged &&
        ask refused 503 '/diff.json?base=1&new=2' damaged && ask status 503 /window && ask status 200 /list.json && kill "$server" && wait "$server"
}
claim "damaged profiles: the store, not the request" broken

secret=0123456789abcdefABCDEF
echo $secret >token
chmod 600 token
needs_token() {
    serve "$@" fleet.db && ask token $secret && same "" "$(cat serve.err)" && kill "$server" && wait "$server"
}
claim "a token from a file" needs_token --token-file=token
claim "a token" needs_token --token=$secret
claim "at an address of others as well" needs_token --listen=127.0.0.1 --token=$secret
chmod 644 token
is_warned() { serve --token-file=token fleet.db && grep -q 'token: other users can read it' serve.err && kill "$server"; }
claim "a warning if others can read the token" is_warned
claim "others cannot ask without a token" says 'a token is needed' qprof serve --listen=0.0.0.0 fleet.db
claim "a short one is refused" says 'too short: it has 5 bytes, and 16 to 255 are needed' qprof serve --token=12345 fleet.db
claim "of one byte" says 'it has 1 byte,' qprof serve --token=x fleet.db
claim "an empty one as well" says 'has 0 bytes' qprof serve --listen=0.0.0.0 --token= fleet.db
claim "one of both" says 'expected one of them' qprof serve --token=$secret --token-file=token fleet.db
claim "no name of a host" says 'localhost: expected an address in numbers' qprof serve --listen=localhost --token=$secret fleet.db
claim "no such port" says '--port=70000: expected' qprof serve --port=70000 fleet.db
claim "no store" says 'none.db: no such file' qprof serve none.db
claim "two stores" says 'expected one store' qprof serve fleet.db same.db
finish
