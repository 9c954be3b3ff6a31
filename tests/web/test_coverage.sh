#!/bin/sh
# test_coverage.sh: the coverage page in headless Chromium: its numbers are those of the JSON export,
# and it can be searched, sorted, filtered, linked to and worked by the keyboard. Screenshots stay in
# the test's folder.
set -eu
root=$QPROF_SOURCE
for tool in node chromium; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
[ -d "$QPROF_BUILD/web/node_modules/playwright-core" ] || { echo "npm installed nothing"; exit 77; }
CHROMIUM=$(command -v chromium-headless-shell || command -v chromium) # without windows: half of the time
export CHROMIUM LC_ALL=C TZ=UTC

# the sources of the small picture: tests/export/pictures.c
mkdir -p lib
cat >lib/util.lua <<'END'
local util = {}

function util.leaf(n)
    return n - 1 -- purecov: inspected
end
END
cat >main.lua <<'END'
local util = require "lib.util"

local function work(n)
    if n > 2 then
        return util.leaf(n)
    end
    return n > 1 and n or 0
end

local function work_(n)
    return n or 0 -- </script><script>alert("source")</script>
end
work(1) work(2) work(3)
os.exit(1)
if not util then
    print "dead"
end
END
for picture in empty small hostile large; do
    "$QPROF_BUILD/tests/export_write" $picture html >$picture.html
    "$QPROF_BUILD/tests/export_write" $picture json >$picture.json
done

# 2,000 sources of 200 lines
mkdir src
for part in $(seq -w 0 49); do mkdir "src/part$part"; done
awk 'BEGIN {
    for (file = 0; file < 2000; file++) {
        name = sprintf("src/part%02d/file%04d.lua", int(file / 40), file)
        for (line = 1; line <= 200; line++)
            printf "    local value_%d = compute(%d) + table_of_%d[%d]\n", line, line, file, line >name
        close(name)
    }
}'
"$QPROF_BUILD/tests/web_huge" >huge.html

# a program of two tests
mkdir app
cat >app/cart.lua <<'END'
local cart = {}

function cart.new()
    return {items = {}, total = 0}
end

function cart.add(c, name, price)
    if price < 0 then
        error("negative price: " .. name)
    end
    c.items[#c.items + 1] = name
    c.total = c.total + price
end

function cart.discount(c, percent)
    c.total = c.total - c.total * percent / 100
    return c.total
end

return cart
END
cat >app/tests.lua <<'END'
local qlua = require "qlua"
local cart = require "app.cart"

qlua.context("it adds up")
local c = cart.new()
cart.add(c, "tea", 3)
cart.add(c, "pot", 4)
assert(c.total == 7)

qlua.context("discounts")
c = cart.new()
cart.add(c, "tea", 10)
assert(cart.discount(c, 10) == 9)
END
if [ -x "$QPROF_BIN/qlua" ]; then
    QPROF="-collect=coverage -output=tests.qprof" "$QPROF_BIN/qlua" app/tests.lua
    "$QPROF_BIN/qprof" cover export --to=html -o recorded.html tests.qprof
    "$QPROF_BIN/qprof" cover report --format=json tests.qprof >recorded.json
fi

node "$root/tests/web/coverage.mjs"
