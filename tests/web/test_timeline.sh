#!/bin/sh
# test_timeline.sh: the timeline of the profile page in headless Chromium, with what timeline.c makes up.
set -eu
. "$QPROF_SOURCE/tests/web/lib.sh"

for picture in small many large; do
    "$QPROF_BUILD/tests/web_timeline" $picture page >$picture.html
    "$QPROF_BUILD/tests/web_timeline" $picture items >$picture.json
done
echo 'local function f() return 1 end f()' >none.lua
QPROF=-output=none.qprof "$qlua" none.lua
page none none.qprof

# a real one, with a coroutine that is suspended in between
cat >traced.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function mid(n) local y = leaf(n) return y + leaf(n) end
local co = coroutine.wrap(function() for i = 1, 5 do leaf(20000) coroutine.yield() end end)
for i = 1, 60 do mid(5000) if i % 20 == 0 then co() end end
END
QPROF="-output=traced.qprof -trace-output=traced.qtrace" "$qlua" traced.lua
"$qprof" html --trace=traced.qtrace traced.qprof >/dev/null
"$qprof" report --format=json traced.qprof >traced.json
if "$qprof" html --trace=traced.qtrace none.qprof -o other.html 2>error; then
    echo "the trace of another run is taken"
    exit 1
fi
grep -q 'traced.qtrace: the trace of another run' error || { cat error; exit 1; }
[ ! -e other.html ] || { echo "a failed page leaves a file"; exit 1; }

node "$QPROF_SOURCE/tests/web/timeline.mjs"
