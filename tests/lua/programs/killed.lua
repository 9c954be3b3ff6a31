-- Coroutines that end in the middle of a block: abandoned, closed, failed, failed when closed.
local function wait(...) return coroutine.yield(...) end
local function body(n)
    local x = n
    x = x + wait(x) x = x + 1
    if x > 10 then x = wait(x) end
    for i = 1, 3 do
        x = x + wait(i)
    end
    return x
end
for i = 1, 200 do
    local co = coroutine.wrap(body)
    for k = 1, i % 7 do co(i) end
end
collectgarbage()
for i = 1, 5 do
    local co = coroutine.create(body)
    for k = 1, i do coroutine.resume(co, i) end
    print(i, coroutine.status(co), coroutine.close(co), coroutine.status(co))
end
local closing = coroutine.create(function()
    local guard <close> = setmetatable({}, {__close = function(_, why)
        print("closing", why)
        if why == nil then error("in close", 0) end
        print("failed")
    end})
    wait(1)
    print("never")
end)
coroutine.resume(closing)
print(coroutine.close(closing))
local function fails(n)
    wait(n)
    local t = n > 1 and nil or {}
    t.x = 1 wait("ok")
    return t.x
end
for n = 1, 2 do
    local co = coroutine.create(fails)
    print(coroutine.resume(co, n))
    print(coroutine.resume(co))
    print(coroutine.resume(co))
end
print(pcall(coroutine.wrap(function() error("wrapped", 0) end)))
local inner
local outer = coroutine.wrap(function()
    inner = coroutine.wrap(function() wait("inner") error("never") end)
    wait(inner())
    print("never")
end)
print(outer())
outer, inner = nil, nil
collectgarbage()
local function pass(n) local r = pcall(function() wait(n) error("later") end) wait(r) return r end
local passing = coroutine.wrap(pass)
print(passing(1), passing(), passing())
