#!/bin/sh
# slower.sh BUILD [RUNS [CLOCK]]: is a function that became 20 % slower named first by `qprof diff`?
# RUNS a side (5), in turn, by CLOCK (user+kernel, which other programs disturb less; elapsed needs a
# machine that does nothing else). Where the machine is too busy, it is the largest of what may be
# chance. Ends with 1 if it is not named first. Not part of the tests (a minute): no test depends on
# how busy a machine is.
set -e
build=${1:?usage: slower.sh BUILD [RUNS [CLOCK]]}
runs=${2:-5}
clock=${3:-user+kernel}
build=$(cd "$build" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Five functions of 10 to 30 % of the time each; of `parse` in `new` 20 % more.
for side in base new; do
    n=5000
    [ $side = base ] || n=6000
    cat >$side.lua <<END
local function spin(n) local s = 0 for i = 1, n do s = (s + i * i) % 8191 end return s end
local function read() return spin(3000) end
local function parse() local s = 0 for i = 1, $n do s = (s + i * i) % 8191 end return s end
local function check() return spin(2000) end
local function write() return spin(4000) end
for i = 1, 20000 do read() parse() check() write() end
END
done
i=0
while [ $((i += 1)) -le "$runs" ]; do
    for side in base new; do
        cp $side.lua script.lua
        QPROF="-output=$side-$i.qprof -clock=$clock" "$build/bin/qlua" script.lua
    done
done
"$build/bin/qprof" diff --base base-*.qprof --new new-*.qprof | tee diff.txt
grep -Eq '^parse +\+|^The largest is that of parse: \+' diff.txt ||
    { echo "slower.sh: parse is not named first" >&2; exit 1; }
