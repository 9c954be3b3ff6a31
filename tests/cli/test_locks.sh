#!/bin/sh
# test_locks.sh: qprof locks: waiters and holders, of runs, sums, stores and cuts.
. "$(dirname "$0")/lib.sh"
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
PATH=$QPROF_BIN:$PATH

# buy() holds the lock while it yields twice; list() and item() wait for it, list() twice.
cat >lock.lua <<'END'
local qlua = require("qlua")
local is_held, holder = false, 0
local function acquire()
    local path = qlua.path(2)
    if is_held then
        local begun, held_by = qlua.wait_begin(), holder
        while is_held do coroutine.yield() end
        qlua.wait_end(begun, "stock", path, held_by)
    end
    is_held, holder = true, path
end
local function release() is_held = false end
local function buy() acquire() coroutine.yield() coroutine.yield() release() end
local function list() acquire() release() coroutine.yield() acquire() release() end
local function item() acquire() release() end
local function visit() buy() is_held = is_held end
local all = { coroutine.create(visit), coroutine.create(list), coroutine.create(item) }
for round = 1, tonumber(arg[1]) do
    for _, thread in ipairs(all) do
        if coroutine.status(thread) == "suspended" then assert(coroutine.resume(thread)) end
    end
end
END
claim "without a recorder" ends 0 qlua lock.lua 4
QPROF="-output=run.qprof" qlua lock.lua 4
locks() { qprof locks --format=json "$@" | jq -c '[.locks[] | [.lock, .waits, .waiter, .holder]] | sort'; }
claim "waiters and holders" same '[["stock",1,"item","buy"],["stock",1,"list","buy"]]' "$(locks run.qprof)"
claim "times" jq -e '[.locks[] | .total_ns > 0 and .longest_ns == .total_ns] | all' <<END
$(qprof locks --format=json run.qprof)
END
claim "parts add up to 100 %" same 100 "$(qprof locks --format=json run.qprof | jq '[.locks[].percent] | add | round')"
claim "paths" same '["item","list"] ["visit > buy"]' \
    "$(qprof locks --paths --format=json run.qprof | jq -r '"\([.locks[].waiter] | sort) \([.locks[].holder] | unique)"')"
claim "as text" grep -q '^stock  *1 .* item  *buy$' <<END
$(qprof locks run.qprof)
END
claim "CSV" same "lock,waits,total_ns,percent,longest_ns,waiter,holder" "$(qprof locks --format=csv run.qprof | head -n 1 | tr -d '\r')"
claim "its JSON fits its schema" same '' "$(qprof locks --format=json run.qprof >out.json &&
    jq -r --slurpfile schema "$root/docs/schema/locks.json" -f "$here/schema.jq" out.json)"
qprof merge -o sum.qprof run.qprof run.qprof
claim "a sum adds them" same '[["stock",2,"item","buy"],["stock",2,"list","buy"]]' "$(locks sum.qprof)"
qprof store import store.db run.qprof run.qprof 2>/dev/null
qprof store export -o out.qprof store.db
claim "a store keeps them" same '[["stock",1,"item","buy"],["stock",1,"list","buy"]]' "$(locks out.qprof)"
QPROF="-output=none.qprof" qlua -e 'local t = {}'
claim "a run without" grep -q "No wait for a lock was recorded" <<END
$(qprof locks none.qprof)
END
claim "the check finds nothing" ends 0 qprof check run.qprof
finish
