#!/bin/sh
# test_luacov.sh: a reader that takes a statistics file apart as luacov does (a number, a colon, a
# name, then so many numbers, each followed by a blank) finds every line and count.
. "$(dirname "$0")/lib.sh"
lua=$QPROF_BIN/lua-base
[ -x "$lua" ] || { echo "the Lua of the example is not built"; exit 77; }

cat >read.lua <<'END'
local file = io.open(arg[1])
while true do
    local last = file:read("n")
    if not last or file:read(1) ~= ":" then break end
    local name = file:read("l")
    for line = 1, last do
        local hits = file:read("n")
        assert(file:read(1) == " ", "no blank after a count")
        if hits > 0 then print(string.format("%s:%d:%d", name, line, hits)) end
    end
end
END
# The same from our tracefile, which has other rules; relative paths.
from_lcov() {
    awk -F '[:,]' '/^SF:/ { sub(/^SF:/, ""); path = $0 }
        /^DA:/ && $3 > 0 { print path ":" $2 ":" $3 }' "$1"
}
for picture in small large; do
    write $picture luacov >stats.out
    write $picture lcov "" | sed 's,^SF:/,SF:,' >lines.info
    from_lcov lines.info >wanted
    "$lua" read.lua stats.out >found
    claim "luacov's way of reading finds all of $picture" diff -u wanted found
    claim "as many lines as we count" same "$(total $picture lines_hit)" "$(wc -l <found | tr -d ' ')"
done
finish
