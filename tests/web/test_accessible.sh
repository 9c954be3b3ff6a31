#!/bin/sh
# test_accessible.sh: axe-core finds nothing on any view of the pages, light and wide or dark and narrow, and each has one first
# heading.
set -eu
. "$QPROF_SOURCE/tests/web/lib.sh"

cat >work.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end -- a comment
local function even(n) if n > 0 then return 1 + odd(n - 1) end return leaf(#"a string") end
function odd(n) if n > 0 then local r = even(n - 1) return r + 1 end return leaf(200) end
for i = 1, 50 do local x = even(10) end
local co = coroutine.wrap(function() for i = 1, 3 do leaf(1000) coroutine.yield() end end)
co() co() co()
END
"$qprof" run -o work.qprof -trace-output=work.qtrace -- "$qlua" work.lua >/dev/null 2>&1
"$qprof" html --trace=work.qtrace work.qprof >/dev/null
QPROF="-output=sampled.qprof -time=adaptive" "$qlua" work.lua
"$qprof" html sampled.qprof >/dev/null
"$qprof" html work.qprof sampled.qprof -o diff.html >/dev/null
"$QPROF_BUILD/tests/export_write" small html >cover.html
node "$QPROF_SOURCE/tests/web/accessible.mjs"
