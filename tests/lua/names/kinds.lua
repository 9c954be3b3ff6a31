-- Functions with every kind of name that the code around them gives; each is called once.
local c = ... or {}
local function run(f, ...) return f(...) end
local either = c and function() return 1 end or function() return 2 end
local one, two = function() return 1 end, function() return 2 end
c.list = {function() end, function() end, last = function() end}
function c:map(f) return f(self) end
c:map(function() end)
c.missing = c.missing or function() end
local function register(t) for _, f in pairs(t) do f() end end
register{
    on_click = function() end,
    on_key = function() end,
}
local function make(n) return function(m) return n + m end end
run(make(1), 2)
run(c and run, function() end)
c["two words"] = function() end
local key = "key"
c[key] = function() end
c[tostring(key) .. 1] = function() end
c[7] = function() end
global = function() end
local Class = setmetatable({get = function() end}, {__call = function() end});
(function() end)()
run(function() end) run(function() end)
table.sort({2, 1}, function() end)
local up
local function setup() up = function() end end
for _ in (function() end) do end
local handle = coroutine.wrap(function() end)
either() one() two() c.list[1]() c.list[2]() c.list.last() c.missing() c["two words"]() c.key()
c.key1() c[7]() global() Class.get() Class() setup() up() handle()
local function new(n) return {n = n, size = function() end, add = function(self) return self end} end
local function open() return setmetatable({close = function() end}, {__index = function() end}) end
new(1):add() new(2).size() open().close() local _ = open().missing
local function _12_() end
run(_12_)
local function _13_() end
_13_()
