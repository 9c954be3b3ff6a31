#!/bin/sh
# test_store_requests.sh: requests in a store: sums by hand, and what qprof merge of the same files shows, byte for byte.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
. "$(dirname "$0")/lib.sh"

# a: GET /a 20 us, and 5 us, failed; f 9 us outside; b: GET /a 41 us, GET /b 7 us, in it c 11 us, d is cut;
# c: without requests; k: killed, one GET /a of 3 us ended, one is cut; t: GET /a is cut, for another
# thread has the rest: GET /b of 6 us
QPROF_LABELS=service=web,version=1,host=x record a.qprof 'main(' 1 '[GET /a' 'f(' 20 ')' ']' '[GET /a' 'f(' 5 ')' ']!' 'f(' 9 ')' ')'
QPROF_LABELS=service=web,version=2,host=x record b.qprof 'main(' 2 '[GET /a' 'f(' 41 ')' ']' '[GET /b' 'f(' 7 '[c' 'h(' 11 ')' ']' ')' ']' '[d' 'f(' 2 ')' ')'
QPROF_LABELS=service=web,version=1,host=y record c.qprof 'main(' 3 'f(' 4 ')' ')'
QPROF_LABELS=service=web,version=2,host=y qprof run -o k.qprof -- ./score 'main(' '[GET /a' 'f(' 3 ')' ']' '[GET /a' 'f(' 3 kill 2>/dev/null
QPROF_LABELS=service=web,version=2,host=z record t.qprof 'main(' 1 '[GET /a' thread 't(' 2 '[GET /b' 'f(' 6 ')' ']' ')' ']' ')'
all="a.qprof b.qprof c.qprof k.qprof t.qprof"

# shellcheck disable=SC2086  # words
qprof store import s.db $all >/dev/null
# shellcheck disable=SC2086
qprof merge -o sum.qprof $all >/dev/null

# counted COMMAND...: "endpoint requests failed cut timed", by name
counted() { "$@" --format=json --sort=name | jq -r '.endpoints[] | "\(.endpoint) \(.requests) \(.failed) \(.cut) \(.timed)"'; }
printf '%s\n' 'GET /a 6 1 2 4' 'GET /b 2 0 0 2' 'c 1 0 0 1' 'd 1 0 1 0' >wanted
counted qprof store requests s.db >found
claim "requests add up" diff -u wanted found
claim "the slowest is that of all, with its trace" same '41000 30313233343536373839616263646566' \
    "$(qprof store requests --format=json s.db | jq -r '.endpoints[] | select(.endpoint == "GET /a") | "\(.slowest_ns) \(.slowest_trace)"')"
printf '%s\n' 'GET /a 2 1 0 2' >wanted
counted qprof store requests --version=1 s.db >found
claim "of those that are chosen" diff -u wanted found

# like STORE MERGED COMMAND...: of the store it shows what it shows of the sum
like() {
    like_store=$1 like_sum=$2 like_command=$3
    shift 3
    like_merged=$like_command
    [ "$like_command" = top ] && like_merged=report
    for format in json csv; do
        [ "$like_command.$format" = tree.csv ] && continue
        qprof "$like_merged" "$@" --format=$format "$like_sum" >want.$format &&
            qprof store "$like_command" "$@" --format=$format "$like_store" >have.$format &&
            cmp want.$format have.$format || return 1
    done
    [ -s want.json ]
}
# all_like STORE MERGED
all_like() {
    like "$1" "$2" requests && like "$1" "$2" requests --sort=slowest && like "$1" "$2" top --endpoint='GET /a' &&
        like "$1" "$2" top --endpoint='GET /*' --endpoint=c && like "$1" "$2" tree --endpoint='GET /b' &&
        like "$1" "$2" top && like "$1" "$2" tree
}
claim "all is as of the sum of merging" all_like s.db sum.qprof
claim "an endpoint's calls, by hand" same 'GET /b 2 24000,c 1 11000,f 1 6000,f 1 7000,h 1 11000' \
    "$(qprof store top --endpoint='GET /b' --format=json s.db |
        jq -r '[.methods[] | select(.calls > 0) | "\(.name) \(.calls) \(if .name == "f" then .self else .total end)"] | sort | join(",")')"
claim "an unknown endpoint" says 'matches no endpoint' qprof store top --endpoint=none s.db
exported() {
    qprof store export --force -o sum-of-store.qprof s.db >/dev/null && qprof check sum-of-store.qprof &&
        qprof requests --format=json sum-of-store.qprof | sed 's/sum-of-store/sum/' >have && qprof requests --format=json sum.qprof | cmp - have
}
claim "so is what is exported" exported
claim "the store's own checks pass" qprof store check s.db
claim "an older sum and a new file" sh -c 'qprof store import twice.db sum.qprof a.qprof >/dev/null &&
    qprof merge -o twice.qprof sum.qprof a.qprof >/dev/null'
claim "... add up" like twice.db twice.qprof requests
for options in -time=adaptive -time=none '-time=sampled -collect=profile,coverage'; do
    name=o$(echo "$options" | tr -dc a-z)
    for i in 1 2 3; do
        QPROF="-output=$name$i.qprof $options" ./score 'main( #0*1' '[GET /a' 'f( #1*3' $i ')' ']' '[GET /b' "g$i(" ')' ']!' ')' 2>/dev/null ||
            QPROF="-output=$name$i.qprof $options" ./score 'main(' '[GET /a' 'f(' $i ')' ']' '[GET /b' "g$i(" ')' ']!' ')'
    done
    qprof store import $name.db $name?.qprof >/dev/null
    qprof merge -o $name.qprof $name[123].qprof >/dev/null
    claim "$options: as of the sum of merging" all_like $name.db $name.qprof
done

# ---- differences, hours, profiles without requests ----------------------------------------------------------------
by_version() {
    qprof diff --endpoint='GET /a' --format=json --base=a.qprof --new=b.qprof |
        jq -S '.rows | map(del(.file, .line))' >want
    qprof store diff --endpoint='GET /a' --label=host=x --format=json --base=1 --new=2 s.db | jq -S '.rows | map(del(.file, .line))' >have
    grep -q calls want && cmp want have
}
claim "a difference of versions, of one endpoint" by_version
# calls in GET /a: of version 1 4 in a, none in c: the median is 2; of version 2 2 in b, 4 in k,
# 1 in t
claim "a profile without the endpoint counts as 0" same '2 2' \
    "$(qprof store diff --endpoint='GET /a' --format=json --base=1 --new=2 s.db | jq -r '.whole.calls | "\(.base) \(.new)"')"
claim "an endpoint that none has" says '--endpoint=none matches no endpoint of any run' \
    qprof store diff --endpoint=none --base=1 --new=2 s.db
rolled() {
    cp s.db roll.db && sql roll.db "UPDATE profile SET ended_at = 1767261600000000000, labels = 'service=web', version = '', host = ''" &&
        qprof store roll --before=2026-02-01 roll.db >/dev/null && same 1 "$(qprof store list --format=json roll.db | jq '.profiles | length')" &&
        counted qprof store requests roll.db >found && counted qprof requests sum.qprof | diff -u - found && qprof store check roll.db
}
claim "hours keep them" rolled
without() {
    cp s.db without.db && sql without.db "DELETE FROM profile WHERE file <> 'c.qprof'" &&
        qprof store requests without.db | grep -q 'No request was recorded'
}
claim "where there are none, it says so" without
finish
