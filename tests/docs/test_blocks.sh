#!/bin/sh
# test_blocks.sh: every block of commands in docs/ and README.md works unchanged, in a folder with
# profiles run.qprof, old.qprof and new.qprof, programs script.lua, tests.lua and server.lua, which forks, and without traces;
# every link from one page to another leads somewhere, and README.md names every page.
set -u
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
for tool in curl jq lcov genhtml luacheck xmllint callgrind_annotate; do
    command -v $tool >/dev/null || { echo "$tool is not installed; tests/run.sh installs it"; exit 77; }
done
PATH=$QPROF_BIN:$PATH
qprof version | grep -q "qprof serve is built in" || { echo "qprof serve is not built in"; exit 77; }
unset QPROF
mistakes=0
rm -rf blocks
mkdir blocks
cd blocks || exit 1

cat >script.lua <<'END'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local function parse(n) return fib(n) end
print(parse(15))
END
cp script.lua tests.lua
cp "$QPROF_SOURCE/tests/lua/fork/workers.lua" server.lua
export LUA_CPATH="$QPROF_BUILD/examples/lua-host/?.so;;"
qprof run -o run.qprof -- qlua script.lua >/dev/null 2>&1 || { echo "no profile"; exit 1; }
cp run.qprof old.qprof
cp run.qprof new.qprof

pages=$(find "$QPROF_SOURCE/docs" "$QPROF_SOURCE"/*.md -name '*.md')
for page in $pages; do
    rm -f block-* ./*.qtrace
    awk '/^```sh$/ { file = "block-" ++n; next } /^```$/ { file = "" } file { print >file }' "$page"
    for block in block-*; do
        [ -f "$block" ] || continue
        if ! sh -e "$block" >out 2>&1 </dev/null; then
            echo "${page#"$QPROF_SOURCE"/}, $block fails:"
            cat "$block" out
            mistakes=1
        fi
    done
    folder=$(dirname "$page")
    for link in $(grep -oE '\]\([^)#:]+' "$page" | cut -c3-); do
        [ -e "$folder/$link" ] || { echo "${page#"$QPROF_SOURCE"/}: no $link"; mistakes=1; }
    done
done

for page in "$QPROF_SOURCE"/docs/*.md "$QPROF_SOURCE"/docs/formats/*.md; do
    page=${page#"$QPROF_SOURCE"/}
    grep -Fq "]($page)" "$QPROF_SOURCE/README.md" || { echo "README.md: no $page"; mistakes=1; }
done
exit $mistakes
