#!/bin/sh
# test_frameworks.sh [BUILD]: what docs/coverage-lua.md says of busted and luaunit works: each
# test is a context, and the lines that it hit are its own.
. "$(dirname "$0")/lib.sh"
[ -f "/usr/share/lua/$lua/luaunit.lua" ] && [ -x /usr/bin/busted ] || {
    echo "busted and luaunit are not installed for Lua $lua (lua-busted, lua-unit)"
    exit 77
}
# Lua as its authors hand it out does not look where Debian's packages are.
set -- /usr/lib/*/lua/"$lua"
export LUA_PATH="/usr/share/lua/$lua/?.lua;/usr/share/lua/$lua/?/init.lua;;" LUA_CPATH="$1/?.so;;"
cd "$tmp"
awk '/^```lua$/ { file = "block-" ++n ".lua"; next } /^```$/ { file = "" } file { print >file }' \
    "$source/docs/coverage-lua.md"
[ -f block-3.lua ] || complain "the page has fewer examples"
mv block-2.lua contexts.lua
cat >shop.lua <<'END'
local M = {}
function M.price(amount, member)
    if amount < 0 then
        error("no negative amounts")
    end
    if member then
        amount = amount * 0.9
    end
    return amount
end
function M.refund(amount)
    return -amount
end
return M
END
mkdir spec
cat >spec/shop_spec.lua <<'END'
local shop = require("shop")
describe("price", function()
    it("is less for members", function()
        assert.are.equal(90, shop.price(100, true))
    end)
    it("refuses negative amounts", function()
        assert.has_error(function() shop.price(-1) end)
    end)
end)
END

# contexts NAME: LINE CONTEXT of shop.lua, those of no context left out
contexts() {
    "$bin/qprof" cover report --format=json "$1.qprof" | jq -r '.contexts as $names |
        .files[] | select(.path == "shop.lua") | .contexts[] | select($names[.context] != "") |
        "\(.line) \($names[.context])"' | LC_ALL=C sort
}

record "-collect=coverage -cover-root=. -cover-exclude=spec" busted \
    /usr/bin/busted --helper=contexts.lua spec
[ "$code" -eq 0 ] || { cat busted.out; complain "busted: exit $code"; }
for line in 3 6 7 9; do echo "$line price is less for members"; done >expected
for line in 3 4; do echo "$line price refuses negative amounts"; done >>expected
LC_ALL=C sort -o expected expected
contexts busted | diff expected - || complain "busted: contexts differ (< by hand, > qlua)"

record "-collect=coverage -cover-root=." luaunit block-3.lua
[ "$code" -eq 0 ] || { cat luaunit.out; complain "luaunit: exit $code"; }
for line in 3 6 7 9; do echo "$line prices"; done >expected
contexts luaunit | diff expected - || complain "luaunit: contexts differ (< by hand, > qlua)"

# Without a recorder, and without the module.
"$bin/qlua" block-1.lua && "$bin/lua-base" block-1.lua || complain "the first example fails"
"$bin/qlua" -e 'local q = require("qlua"); assert(not q.running() and q.context("x") == false)' ||
    complain "the module does not say that nothing is recorded"
finish
