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

node "$QPROF_SOURCE/tests/web/timeline.mjs"
