#!/bin/sh
# test_names.sh [BUILD]: functions have the names that a Lua programmer knows them by.
. "$(dirname "$0")/lib.sh"

cd "$source/tests/lua/names"
record "" run main.lua
[ "$code" -eq 0 ] || { cat "$tmp/run.out"; complain "exit $code"; }

# Written by hand from main.lua and geometry.lua: name, file, line where the function begins.
cat >"$tmp/expected" <<'END'
Account.limits.daily	main.lua	11
Account.open	main.lua	9
Account:deposit	main.lua	10
Shape.new	./geometry.lua	19
Shape:draw	./geometry.lua	22
geometry.Point:norm	./geometry.lua	14
geometry.compose	./geometry.lua	29
geometry.make	./geometry.lua	26
geometry.scale	./geometry.lua	6
geometry.shift	./geometry.lua	9
global_one	main.lua	7
handlers.start	main.lua	13
handlers.stop	main.lua	14
helper	./geometry.lua	3
inner	main.lua	19
late	main.lua	17
main chunk of ./geometry.lua	./geometry.lua	2
main chunk of [string from main.lua:37]	[string from main.lua:37]	1
main chunk of config	config	1
main chunk of main.lua	main.lua	2
argument 1 of run at main.lua:31	main.lua	31
argument 1 of coroutine.wrap at main.lua:34	main.lua	34
argument 2 of table.sort at main.lua:36	main.lua	36
outer	main.lua	18
package.searchers[1]		0
package.searchers[2]		0
run	main.lua	4
result of geometry.compose at geometry.lua:30	./geometry.lua	30
coroutine.wrap		0
coroutine.wrap function		0
file:write		0
ipairs		0
ipairs iterator		0
load		0
require		0
setmetatable		0
string.gmatch		0
string.gmatch iterator		0
table.sort		0
tostring		0
END
"$bin/qprof" report --format=json "$tmp/run.qprof" |
    jq -r '.methods[] | [.name, .file, .line] | @tsv' >"$tmp/actual"
while IFS= read -r row; do
    grep -qxF "$row" "$tmp/actual" || echo "$row"
done <"$tmp/expected" >"$tmp/missing"
[ -s "$tmp/missing" ] && { cat "$tmp/missing" "$tmp/actual"; complain "names are missing"; }

# Interrupts alone: whichever function is seen first, of a module that was loaded long ago and on the
# stack of a coroutine. The timer belongs to the thread, so that every machine takes samples.
cd "$tmp"
cat >m.lua <<'END'
local M = {}
local function helper(n) local s = 0 for i = 1, n do s = s + i end return s end
function M.work() local n = helper(20000) return n end
return M
END
cat >sampled.lua <<'END'
local m = require("m")
local go_on = coroutine.wrap(function()
    local function deep() m.work() return 1 end
    while true do deep() coroutine.yield() end
end)
local t = os.clock()
while os.clock() - t < 0.5 do go_on() end
END
record "-collect=samples '-pc=VIRTUAL 1000' -pc-signal=yes" sampled sampled.lua
[ "$code" -eq 0 ] || { cat "$tmp/sampled.out"; complain "exit $code"; }
"$bin/qprof" report --format=json sampled.qprof | jq -r '.methods[].name' >names
for name in helper m.work deep "argument 1 of coroutine.wrap at sampled.lua:2"; do
    grep -qxF "$name" names || { cat names; complain "samples alone: $name has another name"; }
done
finish
