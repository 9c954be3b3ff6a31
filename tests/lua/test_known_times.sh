#!/bin/sh
# test_known_times.sh [BUILD]: times of programs whose shares follow from the programs in known/, also beside other
# busy processes, and how long they had a processor; a server that waits; a server of 2,000 coroutines.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/known"

# ---- three loops of 60, 30 and 10 percent, beside two busy processes ----------------------------------------

timeout 100 sh -c 'while :; do :; done' &
first=$!
timeout 100 sh -c 'while :; do :; done' &
second=$!
record "-time=exact" loops loops.lua 4000
kill $first $second
"$bin/qprof" report --format=json "$tmp/loops.qprof" >"$tmp/loops.json"
jq -e '[.methods[] | select(.name == ("a", "b", "c"))] | (map(.self_run) | add) as $all |
    length == 3 and all(.[]; (100 * .self_run / $all - {a: 60, b: 30, c: 10}[.name]) | fabs <= 1)' \
    "$tmp/loops.json" >"$tmp/jq" || {
    jq -c '.methods[] | select(.name == ("a", "b", "c")) | {name, self_run, self}' "$tmp/loops.json"
    complain "parts of the loops in the run time are not 60, 30 and 10"
}

# ---- estimates: the time for which others have the only processor ----------------------------------------------

# with_others MODE: the wait time of the run is its time less what its thread had the processor, ± 10 % of the run
with_others() {
    rm -f "$tmp/ready.qprof"
    QPROF="-output=$tmp/ready.qprof -time=$1" taskset -c "$cpu" "$bin/qlua" ready.lua 4000 >"$tmp/ran"
    "$bin/qprof" report --format=json "$tmp/ready.qprof" >"$tmp/ready.json"
    jq -e --slurpfile ran "$tmp/ran" '.run | (.total - .off - $ran[0]) / .total | fabs <= 0.1' "$tmp/ready.json" >"$tmp/jq" || {
        cat "$tmp/ran"
        jq -c '.run | {total, off}' "$tmp/ready.json"
        complain "$1: wait time is not the time less that on the processor"
    }
}

if [ -r /proc/self/schedstat ] && command -v taskset >/dev/null; then
    cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//') # the last one that it may use
    timeout 200 taskset -c "$cpu" sh -c 'while :; do :; done' &
    first=$!
    timeout 200 taskset -c "$cpu" sh -c 'while :; do :; done' &
    second=$!
    with_others adaptive
    with_others sampled
    kill $first $second
else
    echo "the system does not say how long a thread was ready, or taskset is missing: estimates beside busy processes are left out"
fi

# ---- 2,000 coroutines: what their handler does is one branch ---------------------------------------------------

record "-time=exact" handlers handlers.lua
"$bin/qprof" tree --merge-threads --format=json "$tmp/handlers.qprof" >"$tmp/handlers.json"
jq -e '(.methods[] | select(.name == "handler") | .id) as $handler | .run.total as $all |
    [.nodes[] | select(.method == $handler)] | length == 1 and .[0].calls == 2000 and .[0].total > 0.7 * $all' \
    "$tmp/handlers.json" >"$tmp/jq" || complain "the handler is not one branch of 2,000 calls"
"$bin/qprof" tree "$tmp/handlers.qprof" >"$tmp/handlers.txt"
[ "$(grep -c '─ handler  ' "$tmp/handlers.txt")" = 1 ] || { cat "$tmp/handlers.txt"; complain "the tree does not show the handler once"; }
"$bin/qprof" export --to=folded "$tmp/handlers.qprof" >"$tmp/handlers.folded"
[ "$(wc -l <"$tmp/handlers.folded")" -lt 50 ] || complain "the folded export has $(wc -l <"$tmp/handlers.folded") lines"
[ "$(grep -c 'loop;accept;coroutine.create;handler;parse ' "$tmp/handlers.folded")" = 1 ] || complain "the folded export: parse"

# ---- a server that waits -----------------------------------------------------------------------------------------

export LUA_PATH="/usr/share/lua/5.4/?.lua;;"
if [ "$lua" != 5.4 ] || ! "$bin/lua-base" -e 'require("socket")' 2>"$tmp/socket"; then
    echo "luasocket is not installed for Lua $lua (lua-socket): the server is left out"
    finish
    exit 0
fi

# waits FILE: what top shows says that at least 95 % was waiting, in accept
waits() {
    sed -n 's/.* \([0-9.]*\) % waiting, .*/\1/p' "$1" | tail -n 1 | awk '{ found = $1 >= 95 } END { exit !found }' &&
        grep ':accept' "$1" | tail -n 1 | awk '{ found = $2 >= 95 && $1 <= 5 } END { exit !found }'
}

for mode in exact adaptive sampled; do
    rm -f "$tmp/port" "$tmp/server.qprof"
    QPROF="-time=$mode -output=$tmp/server.qprof" "$bin/qlua" server.lua "$tmp/port" 2 &
    server=$!
    for _ in $(seq 200); do
        [ -s "$tmp/port" ] && break
        sleep 0.1
    done
    port=$(cat "$tmp/port")
    "$bin/qlua" client.lua "$port" || complain "$mode: the first client"
    "$bin/qprof" top --count=2 --interval=1 $server >"$tmp/top" || complain "$mode: top"
    "$bin/qlua" client.lua "$port" || complain "$mode: the second client"
    wait $server || complain "$mode: the server"
    "$bin/qprof" report --format=json "$tmp/server.qprof" >"$tmp/server.json"
    jq -e '(.methods[] | select(.name | endswith(":accept"))) as $accept |
        ([.methods[].self_off] | add) >= 0.95 * .run.total and $accept.self_off >= 0.95 * .run.total' \
        "$tmp/server.json" >"$tmp/jq" || { "$bin/qprof" report "$tmp/server.qprof"; complain "$mode: it does not wait"; }
    waits "$tmp/top" || { cat "$tmp/top"; complain "$mode: top does not agree"; }
done
# Where no function was seen to run, the one that waited longest is first.
jq -e '.methods | sort_by(-.self_run) | .[0].self_run > 0' "$tmp/server.json" >"$tmp/jq" ||
    "$bin/qprof" report "$tmp/server.qprof" | grep -A 1 '^Function ' | grep -q ':accept' ||
    complain "sampled: the first row is not what waited"
finish
