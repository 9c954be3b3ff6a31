#!/bin/sh
# fleet.sh: a server of two versions on two "hosts": its profiles in a store, by endpoint.
#
# It names and installs the packages that are missing, builds the recorder, the tool and the patched Lua into build/, and runs
# examples/server four times on loopback, each time with three clients that end by themselves. Only build/ is written.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh

ROUNDS=${ROUNDS:-40} # of each client: three requests, every tenth item does not exist
build=${1:-}         # a finished build folder; else it is built

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
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :' EXIT

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

say "Do the sums hold?"
rm -r "$work/spool"
mv "$work/kept" "$work/spool" # files of the same names: they are in the notes of the sum
qprof merge -o "$work/merged.qprof" "$work"/spool/*.qprof >/dev/null
qprof store export -o "$work/sum.qprof" "$work/fleet.db" >/dev/null
qprof store check "$work/fleet.db"
for command in requests report tree; do
    of_store=$command
    [ $command = report ] && of_store=top
    qprof $command --format=json "$work/merged.qprof" >"$work/want.json"
    qprof store $of_store --format=json "$work/fleet.db" | cmp - "$work/want.json" ||
        fail "store $of_store is not qprof $command of the merged files"
done
counted=$(qprof store requests --format=json "$work/fleet.db" | jq -r '[.endpoints[] | "\(.endpoint) \(.requests) \(.failed) \(.cut)"] | sort | join(", ")')
n=$((12 * ROUNDS))
[ "$counted" = "GET /item/:id $n $((12 * (ROUNDS / 10))) 0, GET /orders $n 0 0, POST /buy $n 0 0" ] || fail "the clients sent other requests: $counted"
echo "The sums are those of qprof merge of the four files, and each of the $((3 * n)) requests is counted."
say "Next: qprof serve $work/fleet.db"
