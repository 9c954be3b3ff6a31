-- The names that qlua gives; test_names.sh knows them.
package.path = "./?.lua"
local geometry = require("geometry")
local function run(f, ...)
    return f(...)
end
function global_one() return 1 end
Account = {}
function Account.open() return setmetatable({}, {__index = Account}) end
function Account:deposit() return self end
Account.limits = {daily = function() return 5 end}
local handlers = {
    start = function() return "started" end,
    stop = function() return "stopped" end,
}
local late
late = function() return "late" end
local function outer()
    local function inner() return late() end
    return inner()
end
geometry.shift(1)
geometry.Point.norm({x = 1})
geometry.make():draw()
geometry.compose(global_one, tostring)(1)
Account.open():deposit()
Account.limits.daily()
handlers.start()
handlers.stop()
outer()
run(function() return 1 end)
for _ in ipairs({1}) do end
for _ in string.gmatch("a", "a") do end
coroutine.wrap(function() end)()
io.stdout:write("")
table.sort({2, 1}, function(a, b) return a < b end)
load("return 1")()
load("local x = 1; return x", "=config")()
