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
CHROMIUM=$(command -v chromium)
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

node "$root/tests/web/coverage.mjs"
