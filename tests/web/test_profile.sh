#!/bin/sh
# test_profile.sh: the profile page in headless Chromium: its numbers are those of the JSON report; the
# flame graph, the lists and the search work. Screenshots stay in the test's folder.
set -eu
. "$QPROF_SOURCE/tests/web/lib.sh"

cat >work.lua <<'END'
local function leaf(n) local x = 0 for i = 1, n do x = x + i end return x end
local function even(n) if n > 0 then return 1 + odd(n - 1) end return leaf(100) end
function odd(n) if n > 0 then local r = even(n - 1) return r + 1 end return leaf(200) end
_G["</script><b>named"] = function() return leaf(300) end
for i = 1, 50 do local x = even(10) + _G["</script><b>named"]() end
local co = coroutine.wrap(function() for i = 1, 3 do leaf(1000) coroutine.yield() end end)
co() co() co()
END
QPROF=-output=work.qprof "$qlua" work.lua
"$qprof" html work.qprof >printed
grep -q '^Written: work.html' printed || { echo "the page goes to another place"; exit 1; }
"$qprof" html work.qprof -o - | cmp - work.html || { echo "not the same page twice"; exit 1; }
"$qprof" report --format=json work.qprof >work.json
"$qprof" report --format=json --threads work.qprof >threads.json
"$qprof" report --format=json --thread=1 work.qprof >thread1.json
"$qprof" report --format=json --hide=even work.qprof >hidden.json
"$qprof" report --format=json --focus=odd work.qprof >focus.json
"$qprof" report --format=json --focus=odd --hide=even work.qprof >both.json
"$qprof" detail --format=json odd work.qprof >detail-odd.json
"$qprof" detail --format=json leaf work.qprof >detail-leaf.json
"$qprof" annotate --format=json work.qprof >annotate.json
"$qprof" tree --merge-threads --format=json work.qprof >tree.json
# part NAME OPTION: a page of a part of the run, with its tree and its functions
part() {
    "$qprof" html "$2" work.qprof -o "$1.html" >/dev/null
    "$qprof" tree --merge-threads --format=json "$2" work.qprof >"$1.json"
    "$qprof" report --format=json "$2" work.qprof >"$1-functions.json"
}
part collapsed --collapse-recursion
part when '--when=work.even->*'
part hidden-page --hide=even
part focus-page --focus=odd
QPROF="-output=counts.qprof -time=none" "$qlua" work.lua
"$qprof" html counts.qprof >/dev/null
cat >often.lua <<'END'
local function f(x) return x + 1 end
local function g(x) local y = f(x) return y + 1 end
local x = 0
for i = 1, 300000 do x = g(x) end
END
QPROF="-output=sampled.qprof -time=adaptive" "$qlua" often.lua
"$qprof" html sampled.qprof >/dev/null
"$qprof" report --format=json sampled.qprof >sampled.json

# two runs: the second calls less often, and longer
sed 's/leaf(300)/leaf(30000)/; s/even(10)/even(9)/' work.lua >later.lua
mkdir -p later
mv later.lua later/work.lua
(cd later && QPROF=-output=../new.qprof "$qlua" work.lua)
"$qprof" html work.qprof new.qprof -o diff.html >/dev/null
"$qprof" diff --elapsed --format=json work.qprof new.qprof >diff.json
"$qprof" diff --format=json --paths work.qprof new.qprof >paths.json
if "$qprof" html work.qprof counts.qprof new.qprof -o three.html 2>error; then
    echo "three profiles are taken"
    exit 1
fi
[ ! -e three.html ] || { echo "a failed page leaves a file"; exit 1; }

# a text that is not what was recorded is shown where the user specified that sources are, and only there
mkdir -p out/of/sight
echo 'local function f() return 1 end f()' >out/secret.lua
QPROF=-output=secret.qprof "$qlua" "$PWD/out/secret.lua"
echo '-- changed since, and secret' >>out/secret.lua
(cd out/of/sight && "$qprof" html ../../../secret.qprof -o ../../../outside.html) >/dev/null
(cd out && "$qprof" html ../secret.qprof -o ../inside.html) >/dev/null
here=$PWD
(cd out/of/sight && "$qprof" html --source-path="/nowhere:$here/out/" ../../../secret.qprof -o ../../../named.html) >/dev/null
(cd out/of/sight && "$qprof" html --source-path="$here/ou" ../../../secret.qprof -o ../../../beside.html) >/dev/null

cat >hostile.lua <<'END'
local names = {"</script><script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>",
    "nul\0after", "bad\xff\xfeutf8", "\u{202e}turned", "\27[31mred", "\"quoted\" & 'single'", "new\nline",
    "=1+1", "-->", "]]>", ("long"):rep(16000)}
for i, name in ipairs(names) do
    load("local name = ... _G[name] = function() return 1 end local x = _G[name]()", "=chunk" .. i)(name)
end
END
QPROF=-output=hostile.qprof "$qlua" hostile.lua
"$qprof" html hostile.qprof >/dev/null
"$qprof" report --format=json hostile.qprof >hostile.json

"$QPROF_BUILD/tests/web_profile_huge" huge.qprof
"$qprof" html huge.qprof >/dev/null
rm huge.qprof

node "$QPROF_SOURCE/tests/web/profile.mjs"
node "$QPROF_SOURCE/tests/web/profile_huge.mjs"
