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
"$qprof" report --threads --format=json traced.qprof >traced.json # a lane is a thread
"$qprof" annotate --format=json traced.qprof >traced-lines.json
if "$qprof" html --trace=traced.qtrace none.qprof -o other.html 2>error; then
    echo "the trace of another run is taken"
    exit 1
fi
grep -q 'traced.qtrace: the trace of another run' error || { cat error; exit 1; }
[ ! -e other.html ] || { echo "a failed page leaves a file"; exit 1; }

# more calls than are drawn, and what trace stat says of windows of whole slices
cat >long.lua <<'END'
local function leaf(x) return x end
local function mid(n) local y = 0 for i = 1, n do y = y + leaf(i) end return y end
local co = coroutine.wrap(function() while true do mid(1000) coroutine.yield() end end)
for i = 1, 550 do mid(1000) if i % 10 == 0 then co() end end
END
QPROF="-output=long.qprof -trace-output=long.qtrace -trace-buffer=64M" "$qlua" long.lua
"$qprof" html --trace=long.qtrace long.qprof >/dev/null
slice=$(sed -n 's/.*"slice":\([0-9]*\),"ticks50".*/\1/p' long.html)
[ "$slice" -gt 0 ] || { echo "a page without slices"; exit 1; }
end=$(sed -n 's/.*"timeline">{"begin":[0-9]*,"end":\([0-9]*\).*/\1/p' long.html)
n=$((end / slice))
# late ones: on a busy machine a program may be slow to start
for window in "0 $((n + 1))" "$((n * 5 / 8)) $((n * 7 / 8))" "$((n * 3 / 4)) $((n * 3 / 4 + 1))"; do
    set -- $window
    from=$(($1 * slice)) to=$(($2 * slice))
    echo "$from~$to" >>windows
    "$qprof" trace stat --since=${from}ns --until=${to}ns --format=json long.qtrace long.qprof >"stat.$from~$to.json"
done

node "$QPROF_SOURCE/tests/web/timeline.mjs"
