#!/bin/sh
# test_store_slow.sh: requests that were kept whole, in a store: the list by hand, and the calls that
# `qprof requests --show` shows of the profile.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
. "$(dirname "$0")/lib.sh"

# record_slow FILE LABELS WORDS...
record_slow() {
    slow_file=$1 slow_labels=$2
    shift 2
    QPROF_LABELS=$slow_labels QPROF="-output=$slow_file -slowest=2" ./score "$@"
}
# a: GET /a 6 us, failed, 9 us with calls, and 1 us, which is not kept; b 4 us, cut. c: GET /a 30 us. d: none
record_slow a.qprof service=web,version=1,host=x 'main(' '[GET /a' 'f(' 6 ')' ']!' '[GET /a' 1 ']' \
    '[GET /a' 'f(' 1 ')' 'f(' 1 ')' 'g(' 'f(' 5 ')' ')' 2 ']' 'h(' '[b' 4 ')' ')'
record_slow c.qprof service=web,version=2,host=y 'main(' '[GET /a' 'f(' 30 ')' ']' ')'
QPROF_LABELS=service=api record d.qprof 'main(' '[GET /a' 'f(' 99 ')' ']' ')'
qprof store import s.db a.qprof c.qprof d.qprof >/dev/null

# rows OPTIONS...: of the list
rows() { qprof store slow --format=json "$@" s.db | jq -r '.requests[] | "\(.endpoint) \(.elapsed_ns / 1000) \(.outcome) \(.calls) \(.service) \(.version) \(.host)"'; }
printf '%s\n' 'GET /a 30 ended 1 web 2 y' 'GET /a 9 ended 4 web 1 x' 'GET /a 6 failed 1 web 1 x' 'b 4 cut 0 web 1 x' >wanted
rows >found
claim "the slowest of all profiles come first" diff -u wanted found
printf '%s\n' 'GET /a 9 ended 4 web 1 x' 'GET /a 6 failed 1 web 1 x' 'b 4 cut 0 web 1 x' >wanted
rows --service=web --version=1 >found
claim "of one version" diff -u wanted found
claim "of one endpoint" same 'GET /a 30 ended 1 web 2 y,GET /a 9 ended 4 web 1 x,GET /a 6 failed 1 web 1 x' "$(rows --endpoint='GET /*' | paste -sd,)"
claim "the first ones" same 'GET /a 30 ended 1 web 2 y' "$(rows --limit=1)"
claim "... which the table says" grep -q '^and 3 more; --limit=0 shows all$' <<END
$(qprof store slow --limit=1 s.db)
END
claim "of a time in which none ended" same '' "$(rows --until=2020-01-01)"
claim "... as the table says" grep -q '^No profile that is chosen has a request that was kept whole' <<END
$(qprof store slow --service=api s.db)
END
claim "in CSV" same '5,2' "$(qprof store slow --format=csv s.db | wc -l),$(qprof store slow --format=csv s.db | sed -n 2p | tr -d '\r' | rev | cut -d, -f1 | rev)"

# whole FIELDS COMMAND...: the request and its calls, without what a store knows more of it
whole() { "$@" --format=json | jq -S '{calls: .calls, request: .requests[0] | del(.number, .service, .version, .host, .profile)}'; }
number() { qprof store slow --format=json s.db | jq ".requests[$1].number"; }
for pair in '0 1 c' '1 1 a' '2 2 a' '3 3 a'; do
    # shellcheck disable=SC2086  # words
    set -- $pair
    whole qprof requests --show="$2" "$3.qprof" >wanted
    whole qprof store slow --show="$(number "$1")" s.db >found
    claim "request $2 of $3 is whole" diff -u wanted found
done
claim "its calls as a tree" grep -q '^ *2.000  *5.000 *    g$' <<END
$(qprof store slow --show="$(number 1)" s.db)
END
claim "its profile is named" grep -q '^ *service  *web, version 1, on host x$' <<END
$(qprof store slow --show="$(number 1)" s.db)
END
claim "one by its trace id" same 'GET /a 30000' "$(qprof store slow --trace-id=30313233343536373839616263646566 --format=json s.db |
    jq -r '"\(.calls[0].function) \(.requests[0].elapsed_ns)"')"
claim "a number that is not there" says '--show=99: no request that is chosen has this number' qprof store slow --show=99 s.db
claim "... nor 0" says '--show=0: no request that is chosen has this number' qprof store slow --show=0 s.db
claim "an empty trace id" says '--trace-id=: expected the digits' qprof store slow --trace-id= s.db
qprof store slow --show="$(number 1)" --to=chrome -o one.json s.db
printf '%s\n' 'GET /a 0 9' 'f 0 1' 'f 1 1' 'g 2 5' 'f 2 5' >wanted
jq -r '[.traceEvents[] | select(.ph == "X")] | .[0].ts as $begin | .[] | "\(.name) \((.ts - $begin) * 1000 | round / 1000) \(.dur)"' \
    one.json >found
claim "as a timeline" diff -u wanted found

# ---- names are data -----------------------------------------------------------------------------------
QPROF="-output=odd.qprof -slowest=2" ./score "main(" "['); DROP TABLE slow; --" "f'\"\\(" 3 ')' ']' ')'
qprof store import odd.db odd.qprof >/dev/null
claim "a name with SQL in it" same "'); DROP TABLE slow; --" "$(qprof store slow --format=json odd.db | jq -r '.requests[0].endpoint')"
claim "... of a function" same "f'\"\\" "$(qprof store slow --show=1 --format=json odd.db | jq -r '.calls[1].function')"

# ---- keeping ------------------------------------------------------------------------------------------
before=$(rows)
qprof store import s.db a.qprof c.qprof >/dev/null
claim "what is imported again changes nothing" same "$before" "$(rows)"
claim "the store is sound" qprof store check s.db
cp s.db bad.db
sql bad.db 'UPDATE slow SET elapsed = elapsed + 1 WHERE request = 1' >/dev/null
# finds REQUEST: one line of the check
finds() {
    ends 1 qprof store check bad.db && same "qprof store check: bad.db: request $1 of the store: damaged" "$(cat err)"
}
claim "a changed figure is found" finds 1
claim "... also by the list" says 'request 1 of the store: damaged' qprof store slow bad.db
cp s.db bad.db
sql bad.db "UPDATE slow SET steps = x'28b52ffd' WHERE request = 2" >/dev/null
claim "damaged calls are found" finds 2
claim "... also when they are shown" says 'request 2 of the store: damaged' qprof store slow --show=2 bad.db
claim "... and the others are there" qprof store slow --show=1 bad.db
# c and its twin become the sum of an hour, which keeps their requests
record_slow c2.qprof service=web,version=2,host=y 'main(' '[GET /a' 'f(' 31 ')' ']' ')'
qprof store import s.db c2.qprof >/dev/null
qprof store roll --before=2100-01-01 s.db >/dev/null
claim "the sum of an hour keeps the requests of its profiles" same 'GET /a 31 ended 1 web 2 y,GET /a 30 ended 1 web 2 y' \
    "$(rows --version=2 | paste -sd,)"
claim "... of one profile" same 1 "$(qprof store list --version=2 --format=json s.db | jq '.profiles | length')"
claim "... and the store is sound" qprof store check s.db
qprof store remove --version=1 --before=2100-01-01 s.db >/dev/null
claim "requests go with their profiles" same '2' "$(sql s.db 'SELECT count(*) FROM slow')"

finish
