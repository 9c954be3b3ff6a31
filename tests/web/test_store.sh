#!/bin/sh
# test_store.sh: the pages of `qprof serve` in headless Chromium: their figures are those of `qprof store`, they are worked
# by the keyboard, and axe-core finds nothing. Screenshots stay in the test's folder.
set -eu
. "$QPROF_SOURCE/tests/web/lib.sh"
"$qprof" version | grep -q 'qprof serve is built in' || { echo "qprof serve is not built in"; exit 77; }

cat >work.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end
_G["</script><b>named"] = function() return leaf(300) end
local function unused() return 1 end
for i = 1, tonumber(arg[1]) do leaf(100) local x = _G["</script><b>named"]() end
END
for version in 1.1 1.2; do
    for host in a b c; do
        "$qprof" run -o "$version-$host.qprof" --labels="service=web,version=$version,host=$host" -collect=profile,coverage \
            -- "$qlua" work.lua "${version#1.}0" >/dev/null 2>&1
    done
done
"$qprof" run -o hostile.qprof --labels='service=<img src=x onerror=window.pwned=1>,version=</script><b>1' -- "$qlua" work.lua 3 >/dev/null 2>&1
cat >slow.lua <<'END'
local request = require("qlua").request
local function wait() coroutine.yield() end
local function work(n) local x = 0 for i = 1, n do x = x + i end return x end
local buy = coroutine.create(function() request("POST /buy", nil, function() work(10) wait() work(10) end) end)
coroutine.resume(buy)
work(100000)
coroutine.resume(buy)
request("GET </script><b>", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", work, 10)
END
QPROF="-output=slow.qprof -slowest=2 -labels=service=shop,version=3,host=d" "$qlua" slow.lua
"$qprof" store import fleet.db ./*.qprof >/dev/null
for by in day version; do
    "$qprof" store series --by=$by --format=json fleet.db >series-$by.json
done
"$qprof" store top --service=web --version=1.2 --format=json fleet.db >top.json
"$qprof" store diff --service=web --base=1.1 --new=1.2 --format=json fleet.db >diff.json
"$qprof" store slow --format=json fleet.db >slow.json
"$qprof" store dead --service=web --format=json fleet.db >dead.json

"$qprof" serve --port=0 fleet.db >address &
server=$!
trap 'kill $server' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s address ] && break
    sleep 0.1
done
node "$QPROF_SOURCE/tests/web/store.mjs" "$(cat address)"
