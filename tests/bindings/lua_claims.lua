-- lua_claims.lua: what the module qprof promises, on one interpreter. Its profiles are read by test_lua.sh.
local qprof = require("qprof")
local hook_calls, hook_lines = 0, 0

local function hook(what)
    if what == "line" then hook_lines = hook_lines + 1 else hook_calls = hook_calls + 1 end
end

-- A hook that is there before the run, and a coroutine that was created before it
debug.sethook(hook, "c")
local early = coroutine.create(function()
    local function inside() return coroutine.yield(1) end
    inside()
    local function later() return 2 end
    return (later())
end)
assert(coroutine.resume(early))
assert(not qprof.running())
qprof.start({output = "claims.qprof", collect = "profile,coverage", labels = "kind=a \"label\" \\"})
assert(qprof.running() and qprof.recording())
assert(debug.gethook() == hook)

local function f(x)
    if x > 1 then
        return x
    end
    local y = x
    return y + 1
end
local before = hook_calls
for i = 1, 10 do f(i) end
assert(hook_calls == before + 10, hook_calls)
debug.sethook()
assert(debug.gethook() == nil)
before = hook_calls
for i = 1, 10 do f(i) end
assert(hook_calls == before, hook_calls)
debug.sethook(hook, "l")
f(1)
debug.sethook()
assert(hook_lines == 5, hook_lines)

-- errors end calls; so does an error in a coroutine
local function fails() error("on purpose") end
function outer() fails() end
for i = 1, 5 do assert(not pcall(outer)) end
local dead = coroutine.create(outer)
assert(not coroutine.resume(dead))
f(2)

-- coroutines
local function numbers(n) for i = 1, n do coroutine.yield(i) end end
local sum = 0
for i in coroutine.wrap(function() numbers(10) end) do sum = sum + i end
assert(sum == 55)
assert(coroutine.resume(early))

-- tail calls
function countdown(n) if n == 0 then return 0 end return countdown(n - 1) end
countdown(99)

-- a pause
assert(qprof.pause() and not qprof.recording())
for i = 1, 7 do f(i) end
assert(qprof.resume() and qprof.recording())
assert(qprof.context("named"))
f(3)
assert(qprof.context())
qprof.mark("a mark")
assert(qprof.snapshot("so-far.qprof"))
local ok, text = pcall(qprof.start)
assert(not ok and text:find("recording already", 1, true), text)
qprof.stop()
assert(not qprof.running())
qprof.stop()
f(1)

ok, text = pcall(qprof.start, {time = "wrong"})
assert(not ok and text:find("-time=wrong", 1, true), text)
ok, text = pcall(qprof.start, {output = {}})
assert(not ok and text:find("texts, numbers and booleans", 1, true), text)
assert(not qprof.running())

-- a second run, in a coroutine
coroutine.wrap(function()
    qprof.start("-output=second.qprof")
    f(1)
    f(2)
    coroutine.wrap(f)(3)
    qprof.stop()
end)()
