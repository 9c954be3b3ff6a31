#!/bin/sh
# test_profile.sh: the profile page in headless Chromium: its numbers are those of the JSON report; the
# flame graph, the lists and the search work. Screenshots stay in the test's folder.
set -eu
for tool in node chromium; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
[ -d "$QPROF_BUILD/web/node_modules/playwright-core" ] || { echo "npm installed nothing"; exit 77; }
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
CHROMIUM=$(command -v chromium)
export CHROMIUM LC_ALL=C TZ=UTC

cat >work.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end
local function even(n) if n > 0 then return 1 + odd(n - 1) end return leaf(100) end
function odd(n) if n > 0 then local r = even(n - 1) return r + 1 end return leaf(200) end
_G["</script><b>named"] = function() return leaf(300) end
for i = 1, 50 do local x = even(10) + _G["</script><b>named"]() end
local co = coroutine.wrap(function() for i = 1, 3 do leaf(1000) coroutine.yield() end end)
co() co() co()
END
QPROF=-output=work.qprof "$QPROF_BIN/qlua" work.lua
"$QPROF_BIN/qprof" export --to=html -o work.html work.qprof
"$QPROF_BIN/qprof" report --format=json work.qprof >work.json
"$QPROF_BIN/qprof" tree --format=json work.qprof >tree.json
QPROF="-output=counts.qprof -time=none" "$QPROF_BIN/qlua" work.lua
"$QPROF_BIN/qprof" export --to=html -o counts.html counts.qprof

node "$QPROF_SOURCE/tests/web/profile.mjs"
