#!/bin/sh
# test_fleet.sh: examples/fleet.sh: a server of two versions on two hosts whose requests are in a store. Each of 3 clients asks
# 10 times for each of three pages; every tenth item does not exist; ROUNDS may be a multiple of 10.
set -u
ROUNDS=${ROUNDS:-10}
export ROUNDS
command -v jq >/dev/null || { echo "jq is not installed; tests/run.sh installs it"; exit 77; }
qlua=$QPROF_BUILD/bin/qlua
[ -x "$qlua" ] || { echo "qlua is not built"; exit 77; }
for module in socket.core socket; do
    "$qlua" -e "package.path = '/usr/share/lua/5.4/?.lua'
        package.cpath = '/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)/lua/5.4/?.so'
        require('$module')" 2>/dev/null || { echo "luasocket is not installed for Lua 5.4 (lua-socket)"; exit 77; }
done
. "$QPROF_SOURCE/tests/claims.sh"
FLEET_DIR=$PWD/fleet
# ClickHouse only where it is unpacked already: tests/long.sh clickhouse
FLEET_CLICKHOUSE=$QPROF_SOURCE/build/clickhouse
[ -e "$FLEET_CLICKHOUSE/done" ] || FLEET_CLICKHOUSE=
export FLEET_CLICKHOUSE
export FLEET_DIR PATH="$QPROF_BUILD/bin:$PATH" LC_ALL=C TZ=UTC
unset QPROF LUA_PATH LUA_CPATH LUA_INIT
store=$FLEET_DIR/fleet.db

run() { sh "$QPROF_SOURCE/examples/fleet.sh" "$QPROF_BUILD" >shown 2>&1 || { tail -n 30 shown; return 1; }; }
claim "the example ends, and its sums hold" run

# requests FLAG...: of each endpoint, by name
requests() {
    qprof store requests --sort=name --format=json "$@" "$store" |
        jq -r '[.endpoints[] | "\(.endpoint) \(.requests) \(.failed) \(.cut) \(.timed)"] | join(", ")'
}
n=$((3 * ROUNDS)) bad=$((3 * (ROUNDS / 10)))
claim "each host counts its own" same "GET /item/:id $n $bad 0 $n, GET /orders $n 0 0 $n, POST /buy $n 0 0 $n" \
    "$(requests --version=1.0 --label=host=ham)"
claim "all of a version" same "GET /item/:id $((2 * n)) $((2 * bad)) 0 $((2 * n)), GET /orders $((2 * n)) 0 0 $((2 * n)), POST /buy $((2 * n)) 0 0 $((2 * n))" \
    "$(requests --version=1.1)"
# calls FUNCTION FLAG...: below requests
calls() {
    name=$1
    shift
    qprof store top --limit=0 --format=json "$@" "$store" | jq --arg name "$name" '[.methods[] | select(.name == $name).calls] | add // 0'
}
# An answer has 25 orders; to find customer 2 i takes 2 i comparisons: 2 x (1 + ... + 25) = 650.
claim "queries that are repeated" same $((25 * 2 * n)) "$(calls query --endpoint='GET /orders' --version=1.0)"
claim "comparisons" same $((650 * 2 * n)) "$(calls match --endpoint='GET /orders' --version=1.0)"
claim "version 1.1 repeats none" same 0 "$(calls query --version=1.1)"
claim "an endpoint has its own calls alone" same "0 $((4 * n))" \
    "$(calls query --endpoint='POST /buy') $(calls Lock:release --endpoint='POST /buy')"
claim "the slowest has the trace id that a client sent" same 3 \
    "$(qprof store requests --format=json "$store" | jq '[.endpoints[] | select(.slowest_trace | test("^0000000[123]0{16}"))] | length')"
claim "what is forgotten has at least the bytes of its text" same true "$(qprof store top --endpoint='GET /item/*' --limit=0 --format=json "$store" |
    jq "[.methods[] | select(.name == \"remember\" or .name == \"string.rep\").bytes] | add > $((4 * n * 2 * 2000))")"
claim "nothing calls it" same 1 "$(qprof store dead --format=json "$store" | jq '[.dead[] | select(.name == "shop.old_price")] | length')"
# under the lock one buys at a time: the elapsed times of a server's buys include those of the others
claim "who waits for a lock is slower than its calls are" same true \
    "$(qprof store requests --format=json "$store" | jq '.endpoints[] | select(.endpoint == "POST /buy") | .elapsed_ns > .total')"
claim "and one buyer waits for another" same '[["journal","buy","buy"]]' \
    "$(qprof locks --format=json "$FLEET_DIR/spool/1.0-ham.qprof" | jq -c '[.locks[] | [.lock, .waiter, .holder]]')"
qprof store export --version=1.0 -o all.qprof "$store"
claim "the store has the waits of both hosts" same \
    "$(for host in ham fra; do qprof locks --format=json "$FLEET_DIR/spool/1.0-$host.qprof"; done | jq -s '[.[].locks[].waits] | add')" \
    "$(qprof locks --format=json all.qprof | jq '[.locks[].waits] | add')"
finish
