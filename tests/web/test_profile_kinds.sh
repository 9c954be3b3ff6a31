#!/bin/sh
# test_profile_kinds.sh: the profile page of what was sampled from outside, imported, recorded as coverage
# alone or compared, in headless Chromium: its numbers are those of the JSON reports.
set -eu
. "$QPROF_SOURCE/tests/web/lib.sh"
# The whole browser: without its windows the mouse over the last row of a deep recursion found another one.
CHROMIUM=$(command -v chromium) || { echo "chromium is not installed"; exit 77; }

# sampled from outside, and the same through the format of another tool
cat >busy.lua <<'END'
local function hot(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function warm(n) local s = hot(n) return s + hot(n // 2) end
while true do warm(20000) end
END
QPROF=-output=busy.qprof "$qlua" busy.lua &
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT
sleep 1
"$qprof" run --pid=$busy --for=1s -o outside.qprof >/dev/null 2>&1
kill $busy
"$qprof" export --to=pprof -o samples.pb.gz outside.qprof
page outside outside.qprof
page samples samples.pb.gz

"$qprof" html outside.qprof samples.pb.gz -o uncounted.html >/dev/null

# exact, through a format without paths
cat >work.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end
local function mid(n) local x = leaf(n) return x + leaf(n) end
for i = 1, 50 do mid(10) end
END
QPROF=-output=work.qprof "$qlua" work.lua
"$qprof" export --to=callgrind -o callgrind.out work.qprof
page edges callgrind.out
QPROF="-output=none.qprof -time=none" "$qlua" work.lua
page none none.qprof
QPROF="-output=coverage.qprof -collect=coverage" "$qlua" work.lua
page coverage coverage.qprof
for pair in "work.qprof coverage.qprof" "coverage.qprof work.qprof"; do
    if "$qprof" html $pair -o never.html 2>error; then
        echo "a profile and coverage alone are compared"
        exit 1
    fi
    grep -q '^qprof html: coverage.qprof: it has only coverage' error || { cat error; exit 1; }
done

# of what a pattern counts, and compared with a run that was measured in another way
"$qprof" html --when='work.mid:->*' work.qprof -o when.html >/dev/null
QPROF="-output=adaptive.qprof -time=adaptive" "$qlua" work.lua
"$qprof" html work.qprof adaptive.qprof -o modes.html >/dev/null

# two calls of three are recorded
printf 'initial-status off\ntrigger here on pass=1 : leaf\n' >some.conf
cat >some.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end
leaf(1000) leaf(2000) leaf(3000)
END
QPROF="-output=some.qprof -config=some.conf" "$qlua" some.lua
page some some.qprof

# the last one of 5,000 open calls does nearly all of the work
cat >deep.lua <<'END'
local function bottom() local x = 0 for i = 1, 1000000 do x = x + i end return x end
function down(n) local x if n > 0 then x = down(n - 1) else x = bottom() end return x + 1 end
down(5000)
END
QPROF=-output=deep.qprof "$qlua" deep.lua
page deep deep.qprof

# two runs of two threads each
cat >two.lua <<'END'
local calls, work = 40, 2000
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end
local function only(n) local x = leaf(n) return x end
local function part() for i = 1, 3 do leaf(work) only(10) coroutine.yield() end end
local co = coroutine.create(part)
for i = 1, calls do leaf(work) end
for i = 1, 3 do coroutine.resume(co) end
END
QPROF=-output=before.qprof "$qlua" two.lua
sed -i '1s/.*/local calls, work = 30, 20000/' two.lua
QPROF=-output=after.qprof "$qlua" two.lua
for run in before after; do "$qprof" report --format=json $run.qprof >$run.json; done
"$qprof" html before.qprof after.qprof -o two.html >/dev/null
"$qprof" diff --format=json before.qprof after.qprof >diff.json
"$qprof" diff --format=json --threads before.qprof after.qprof >diff-threads.json
"$qprof" diff --format=json --thread=.part_3. before.qprof after.qprof >diff-thread.json
"$qprof" diff --format=json --paths before.qprof after.qprof >diff-paths.json

# a program that sleeps, and allocates, in a coroutine
cat >waiting.lua <<'END'
local function nap() io.popen("sleep 0.03"):close() end
local function fill(n) local t = {} for i = 1, n do t[i] = {i} end return t end
local function work(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function serve() for i = 1, 4 do nap() fill(300) work(40000) coroutine.yield() end end
local co = coroutine.create(serve)
for i = 1, 4 do coroutine.resume(co) end
END
QPROF="-output=waiting.qprof -allocations=yes" "$qlua" waiting.lua
sed -i 's/40000/200000/' waiting.lua
QPROF="-output=later.qprof -allocations=yes" "$qlua" waiting.lua
page waiting waiting.qprof
"$qprof" html waiting.qprof later.qprof -o waiting-two.html >/dev/null
"$qprof" diff --format=json waiting.qprof later.qprof >diff-waiting.json

# a file that exists is kept
"$qprof" html work.qprof >printed
grep -q '^Written: work.html;' printed
echo mine >work.html
"$qprof" html work.qprof >printed
grep -q '^Written: work.1.html;' printed || { echo "the page goes to another place"; exit 1; }
[ "$(cat work.html)" = mine ] || { echo "a file that was not named is overwritten"; exit 1; }
if "$qprof" html work.qprof -o work.html >/dev/null 2>error; then
    echo "another kind of file is replaced unasked"
    exit 1
fi
[ "$(cat work.html)" = mine ] || { echo "a refused page changes the file"; exit 1; }
"$qprof" html --force work.qprof -o work.html >/dev/null
grep -q '</html>' work.html || { echo "a file that was named is not replaced with --force"; exit 1; }
"$qprof" html work.qprof -o work.html >/dev/null || { echo "a page of ours is not replaced"; exit 1; }

odd=$(printf '<b>&\033[31m.qprof')
cp work.qprof "$odd"
"$qprof" html "$odd" -o odd.html >/dev/null

node "$QPROF_SOURCE/tests/web/profile_kinds.mjs"
