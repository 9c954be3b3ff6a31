#!/bin/sh
# test_qlua.sh: qlua is killed at moments of its own; what it leaves reads and passes every check.
# The moment is a number of lines that the program has written, not a time.
set -eu

test -x "$QPROF_BIN/qlua" || { echo "qlua was not built"; exit 77; }

cat > program.lua <<'END'
local function leaf(n) return n + 1 end
local function fib(n) if n < 2 then return leaf(n) end return fib(n - 1) + fib(n - 2) end
local function generate() for i = 1, 5 do coroutine.yield(fib(5 + i % 4)) end end
local round = 0
while true do
    round = round + 1
    for v in coroutine.wrap(generate) do leaf(v) end
    pcall(error, "thrown " .. round)
    load("return function() return " .. round .. " end")()()
    io.write(round, "\n")
    io.flush()
end
END

. "$QPROF_SOURCE/tests/kill/lib.sh"
kill_number=0
while [ "$kill_number" -lt 40 ]; do
    kill_number=$((kill_number + 1))
    mode=$(echo "exact adaptive none" | cut -d' ' -f$((kill_number % 3 + 1)))
    kill_after $((kill_number * kill_number)) "-time=$mode"
    rm -f "$profile"
done
echo "$kill_number kills, every profile passes its checks"
