#!/bin/sh
# test_identity.sh [BUILD]: two functions are two methods, even with equal bodies on one line; code
# that is loaded again is the same method; a function without a name is known by what is done
# with it.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/names"

# Tables are sorted in the C locale: name, then for `functions` the line, then the calls.
LC_ALL=C
export LC_ALL

functions() { # NAME: of Lua
    "$bin/qprof" report --format=json "$tmp/$1.qprof" |
        jq -r '.methods[] | select(.file != "") | [.name, .line, .calls] | @tsv' | sort
}

same() { # WHAT: $tmp/expected and $tmp/actual
    sort "$tmp/expected" | diff - "$tmp/actual" >"$tmp/diff" || {
        cat "$tmp/diff"
        complain "$1 (< expected, > qlua)"
    }
}

# Worked out by hand from minified.lua, a single line: `m(f, n)` calls f n times.
cat >"$tmp/minified" <<'END'
main chunk of minified.lua	1	1
m	1	8
element 1 of t at minified.lua:1	1	3
element 2 of t at minified.lua:1	1	5
argument 1 of m at minified.lua:1	1	7
argument 1 of m at minified.lua:1#2	1	11
a	1	1
b	1	1
result of a at minified.lua:1	1	13
result of b at minified.lua:1	1	17
minified.lua:1	1	1
minified.lua:1#2	1	1
minified.lua:1#3	1	1
u.f	1	19
u.f#2	1	23
END
cp "$tmp/minified" "$tmp/expected"
for options in "" "-time=none" "-collect=profile,coverage" "-trace-output=$tmp/minified.qtrace"; do
    record "$options" minified minified.lua
    functions minified >"$tmp/actual"
    same "equal bodies on one line, $options"
done
record "-collect=coverage" minified minified.lua
"$bin/qprof" cover report --format=json "$tmp/minified.qprof" 2>"$tmp/printed" |
    jq -r '.files[].functions[] | [.name, .line, .hits] | @tsv' | sort >"$tmp/actual"
same "equal bodies on one line, coverage"
record "-collection-granularity=function" minified minified.lua
functions minified >"$tmp/actual"
sed 's/	1	/	0	/' "$tmp/minified" >"$tmp/expected"
same "equal bodies on one line, without lines"

# Worked out by hand from kinds.lua.
cat >"$tmp/expected" <<'END'
main chunk of kinds.lua	2	1
run	3	6
either	4	1
one	5	1
two	5	1
c.list.last	6	1
element 1 of c.list at kinds.lua:6	6	1
element 2 of c.list at kinds.lua:6	6	1
c:map	7	1
argument 1 of c:map at kinds.lua:8	8	1
c.missing	9	1
register	10	1
field "on_click" of table at kinds.lua:11	12	1
field "on_key" of table at kinds.lua:11	13	1
make	15	1
result of make at kinds.lua:15	15	1
argument 2 of run at kinds.lua:17	17	1
c.two words	18	1
c.key	20	1
c[...] at kinds.lua:21	21	1
element 7 of c at kinds.lua:22	22	1
global	23	1
Class.get	24	1
getmetatable(Class).__call	24	1
kinds.lua:25	25	1
argument 1 of run at kinds.lua:26	26	1
argument 1 of run at kinds.lua:26#2	26	1
argument 2 of table.sort at kinds.lua:27	27	1
setup	29	1
up	29	1
kinds.lua:30	30	1
argument 1 of coroutine.wrap at kinds.lua:31	31	1
new	34	2
new().size	34	1
new():add	34	1
open	35	2
open().close	35	1
getmetatable(open()).__index	35	1
argument 1 of run at kinds.lua:37	37	1
_13_	39	1
END
record "" kinds kinds.lua
functions kinds >"$tmp/actual"
same "names of all kinds"

# reload.lua loads minified.lua six times, texts that are equal or differ in a number 1,000 times each,
# and 50 texts of different lengths, with i calls of f each.
record "" reload reload.lua
functions reload >"$tmp/all"
grep -v '?' "$tmp/all" >"$tmp/actual"
{
    awk -F'\t' -v OFS='\t' '{ print $1, $2, $3 * 6 }' "$tmp/minified"
    cat <<'END'
main chunk of reload.lua	2	1
main chunk of [string from reload.lua:7]	1	1000
f	1	1000
function of [string from reload.lua:7]	1	1000
main chunk of [string from reload.lua:8]	1	1000
f	1	1000
main chunk of page	1	50
f	1	1275
parts	12	5
result of parts at reload.lua:13	13	15
main chunk of [string from reload.lua:15]	1	5
main chunk of [string from reload.lua:16]	1	10
END
} >"$tmp/expected"
same "code that is loaded again"

# Code without debug information: the calls of its functions, twice.
grep '?' "$tmp/all" | cut -f 3 | sort -n | tr '\n' ' ' >"$tmp/actual"
echo "2 2 2 2 2 2 6 10 14 16 22 26 34 38 46 " | tr -d '\n' >"$tmp/expected"
cmp -s "$tmp/expected" "$tmp/actual" || { cat "$tmp/all"; complain "code that was stripped"; }
# The sum of two runs, and their comparison.
record "" one minified.lua
record "" two minified.lua
"$bin/qprof" merge -o "$tmp/both.qprof" "$tmp/one.qprof" "$tmp/two.qprof" >"$tmp/printed" 2>&1
functions both >"$tmp/actual"
awk -F'\t' -v OFS='\t' '{ print $1, $2, $3 * 2 }' "$tmp/minified" >"$tmp/expected"
same "the sum of two runs"
"$bin/qprof" diff --format=json "$tmp/one.qprof" "$tmp/both.qprof" |
    jq -r '.rows[] | select(.file != "") | [.name, .line, .calls.change] | @tsv' | sort >"$tmp/actual"
cp "$tmp/minified" "$tmp/expected"
same "the sum compared with one of the runs"

# A function is inserted between two equal ones: `sum - x`, which has the same blocks. The calls tell
# which is which; where there are none, in coverage, the order does. The new loops are longer: a
# comparison lists no function whose figures are the same in both runs.
cd "$tmp"
mkdir old new
cat >old/app.lua <<'END'
local function each(list, f) for i = 1, #list do f(list[i]) end end
local sum, n = 0, 1 for i = 1, n do sum = sum + i end
each({1, 2, 3}, function(x)
    for i = 1, n do sum = sum + x end
end)
each({4, 5}, function(x)
    for i = 1, n do sum = sum + x end
end)
END
sed -e 's/n = 0, 1/n = 0, 100000/' -e '5a each({7, 8, 9, 10}, function(x)\n    for i = 1, n do sum = sum - x end\nend)' old/app.lua >new/app.lua
for version in old new; do
    cd $version
    record "-collect=profile,coverage" $version app.lua
    cd ..
done
"$bin/qprof" diff --format=json old.qprof new.qprof |
    jq -r '.rows[] | select(.file == "app.lua") | [.name, .line, .calls.base, .calls.new] | @tsv' |
    sort >actual
cat >expected <<'END'
main chunk of app.lua	1	1	1
each	1	2	3
argument 2 of each at app.lua:3	3	3	3
argument 2 of each at app.lua:6	6	0	4
argument 2 of each at app.lua:9	9	2	2
END
same "an inserted function"
"$bin/qprof" cover diff --format=json old.qprof new.qprof >diff.json 2>printed
jq -r '.. | objects | select(has("functions")) | .functions | arrays | .[] | select(.change == "new") | .name' diff.json |
    sort >actual
echo "argument 2 of each at app.lua:9" >expected
same "an inserted function, coverage"
finish
