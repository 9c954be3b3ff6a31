#!/bin/sh
# test_luacov.sh: a reader that takes a statistics file apart as luacov does (a number, a colon, a
# name, then so many numbers, each followed by a blank) finds every line and count. The tool reads the
# file back, and learns from the source which lines were missed.
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

cat >script.lua <<'END'
local t = {
  a = 1, -- a comment
  b = [[
return
]],
}

local function never(x)
  --[==[ if x then
  ]] ]==]
  local y, z
  if x == "a\"--" then
    return { x,
      1 }
  else
    print("no")
  end
end
local f = function(n)
  return n * 2 end
::again::
for i = 1, 3 do
  f(i)
end
END
# what luacov counts: the first table at 1 and 2, its long text at its end, functions at their ends
printf '%s\n%s \n' 24:script.lua "1 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 1 0 3 0 3 3 0" >stats.out
# lines FILE: LINE:COUNT of all lines with code
lines() {
    "$QPROF_BIN/qprof" cover export --to=lcov "$1" 2>err |
        sed -n 's/^DA:\(.*\),\(.*\)/\1:\2/p' | xargs
}
claim "lines with code that have no count were missed" same \
    "1:1 2:1 5:1 12:0 13:0 14:0 16:0 18:1 20:3 22:3 23:3" "$(lines stats.out)"
mkdir elsewhere
cp stats.out elsewhere
cd elsewhere || exit 1
claim "without the source only executed lines are known" same "1:1 2:1 5:1 18:1 20:3 22:3 23:3" \
    "$(lines stats.out)"
claim "and a message says so" grep -qx "qprof cover export: stats.out: 1 file without source in \
this folder: missed lines are not known" err
cd .. || exit 1
"$QPROF_BIN/qprof" cover export --to=luacov -o back.out stats.out 2>/dev/null
claim "read and written again it is the same but for the end" same \
    "$(sed -n '2s/ 0 $//p' stats.out)" "$(sed -n '2s/ $//p' back.out)"
sed 's/ 3 0 $/ 3 /' stats.out >cut.out
claim "a file that was cut off is refused" same \
    "qprof report: cut.out: line 2: not as many counts as lines" \
    "$("$QPROF_BIN/qprof" report cut.out 2>&1)"
sed '2s/^1 1 /1 18446744073709551616 /' stats.out >large.out
claim "a count that is too large is named" same \
    "qprof report: large.out: line 2: count 2 is not a number from 0 to 2^63 - 1" \
    "$("$QPROF_BIN/qprof" report large.out 2>&1)"
finish
