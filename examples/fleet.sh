#!/bin/sh
# fleet.sh: a server of two versions on two "hosts": its profiles in a store, by endpoint; then the same in a store on two servers
# of ClickHouse, one of which breaks.
#
# It names and installs the packages that are missing, builds the recorder, the tool and the patched Lua into build/, and runs
# examples/server four times on loopback, each time with three clients that end by themselves. Only build/ is written. Debian's
# package of ClickHouse is downloaded and unpacked there, and not installed; where that is not possible, its part is left out.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh

ROUNDS=${ROUNDS:-40} # of each client: three requests, every tenth item does not exist
build=${1:-}         # a finished build folder; else it is built
clickhouse=${FLEET_CLICKHOUSE-$PWD/build/clickhouse} # where it is unpacked; empty: without it

say() { printf '\n%s\n\n' "$1"; }
# show COMMAND...: print the command and run it
show() {
    say "\$ $*"
    "$@"
}
fail() {
    echo "fleet.sh: $*"
    exit 1
}

need_packages "the example" build-essential cmake dpkg-dev patch libreadline-dev lua-socket zlib1g-dev libsqlite3-dev \
    libzstd-dev jq
if [ -z "$build" ]; then
    build=build
    build_tree "libqprof, qprof and qlua" "$build" --preset release
fi
[ -x "$build/bin/qlua" ] || fail "$build/bin/qlua is missing"
export PATH="$build/bin:$PATH" LC_ALL=C TZ=UTC
export LUA_PATH="/usr/share/lua/5.4/?.lua;;"
LUA_CPATH="/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/lua/5.4/?.so;;"
export LUA_CPATH
unset QPROF LUA_INIT

work=${FLEET_DIR:-build/fleet}
mkdir -p "$work"
rm -rf "$work/spool" "$work/kept"
rm -f "$work"/fleet.db* "$work"/*.qprof "$work/port"
mkdir "$work/spool"
server=
end_all() {
    for pid in $server $(cat "$work"/shard?/pid 2>/dev/null); do kill -9 "$pid" 2>/dev/null || :; done
    rm -rf "$work"/shard?
}
trap end_all EXIT
end_all

# run_server VERSION HOST: with its clients, to their end
run_server() {
    rm -f "$work/port"
    QPROF="-output=$work/spool/$1-$2.qprof -collect=profile,coverage -allocations=yes" \
        QPROF_LABELS="service=shop,version=$1,host=$2" \
        qlua examples/server/server.lua "$1" >"$work/port" &
    server=$!
    until [ -s "$work/port" ]; do
        kill -0 $server 2>/dev/null || fail "the server did not start"
        sleep 0.1
    done
    port=$(cat "$work/port")
    clients=
    for client in 1 2 3; do
        qlua examples/server/client.lua "$port" $client "$ROUNDS" &
        clients="$clients $!"
    done
    for client in $clients; do wait "$client" || fail "a client failed"; done
    qlua examples/server/client.lua "$port" quit
    wait $server || fail "the server failed"
    server=
}

for version in 1.0 1.1; do
    for host in ham fra; do
        echo "version $version on host $host: 3 clients, $((9 * ROUNDS)) requests"
        run_server $version $host
    done
done
cp -r "$work/spool" "$work/kept" # to merge them

show qprof push --spool="$work/spool" --to=sqlite:"$work/fleet.db"
show qprof store list "$work/fleet.db"
show qprof store requests "$work/fleet.db"
say "The query that version 1.0 repeats for each order:"
show qprof store diff --base=1.0 --new=1.1 --endpoint="GET /orders" --limit=8 "$work/fleet.db"
say "The leak: what remember() allocates is not freed."
show qprof store top --endpoint="GET /item/*" --sort=bytes --limit=5 "$work/fleet.db"
say "The lock: buyers wait for each other."
show qprof store tree --endpoint="POST /buy" "$work/fleet.db"
say "What no version calls on any host, without the functions of libraries:"
qprof store dead --service=shop "$work/fleet.db" | grep -v ' /usr/'

stores=$work/fleet.db
# start_shard N
start_shard() { sh tests/clickhouse.sh start "$clickhouse" "$work/shard$1" "$2"; }
if [ -n "$clickhouse" ] && sh tests/clickhouse.sh unpack "$clickhouse"; then
    say "The same profiles go to two servers of ClickHouse, the second of which is killed before it can take any."
    # shellcheck disable=SC2046  # two numbers
    set -- $(sh tests/clickhouse.sh ports 2)
    shards=clickhouse:http://127.0.0.1:$1/fleet,http://127.0.0.1:$2/fleet
    start_shard 1 "$1"
    start_shard 2 "$2"
    cp "$work"/kept/* "$work/spool"
    kill -9 "$(cat "$work/shard2/pid")"
    show qprof push --spool="$work/spool" --tries=1 --to="$shards" || :
    say "It is up again, and takes its part. Then all of them are pushed a second time, as a host does whose disk was restored."
    start_shard 2 "$2"
    show qprof push --spool="$work/spool" --to="$shards"
    cp "$work"/kept/* "$work/spool"
    show qprof push --spool="$work/spool" --to="$shards"
    show qprof store list "$shards"
    stores="$stores $shards"
else
    echo "Without ClickHouse the store on servers is left out."
fi

say "Do the sums hold?"
rm -r "$work/spool"
mv "$work/kept" "$work/spool" # files of the same names: they are in the notes of the sum
for store in $stores; do
    # merged in the order in which they came: a sum names its files
    qprof store list --format=json "$store" | jq -r '.profiles[].file' |
        xargs qprof merge --force -o "$work/merged.qprof" >/dev/null
    for command in requests report tree; do
        of_store=$command
        [ $command = report ] && of_store=top
        qprof $command --format=json "$work/merged.qprof" >"$work/want.json"
        qprof store $of_store --format=json "$store" | cmp - "$work/want.json" ||
            fail "store $of_store of $store is not qprof $command of the merged files"
    done
done
for store in $stores; do qprof store check "$store"; done
counted=$(qprof store requests --format=json "$work/fleet.db" | jq -r '[.endpoints[] | "\(.endpoint) \(.requests) \(.failed) \(.cut)"] | sort | join(", ")')
n=$((12 * ROUNDS))
[ "$counted" = "GET /item/:id $n $((12 * (ROUNDS / 10))) 0, GET /orders $n 0 0, POST /buy $n 0 0" ] || fail "the clients sent other requests: $counted"
echo "The sums of each store are those of qprof merge of the four files, and each of the $((3 * n)) requests is counted."
say "Next: qprof serve $work/fleet.db"
