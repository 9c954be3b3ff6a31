-- Coroutines: generators, errors inside, close, nesting, yields across pcall and metamethods.
local function generate(n)
    for i = 1, n do
        coroutine.yield(i)
    end
    return "end"
end
local sum = 0
for v in coroutine.wrap(function() return generate(20) end) do
    if type(v) == "number" then sum = sum + v else break end
end
print(sum)

local failing = coroutine.create(function()
    coroutine.yield(1)
    error("inside")
end)
print(coroutine.resume(failing))
print(coroutine.resume(failing))
print(coroutine.resume(failing))
print(coroutine.status(failing))

local function nested(level)
    if level == 0 then coroutine.yield("bottom") return 0 end
    local inner = coroutine.wrap(nested)
    coroutine.yield(inner(level - 1))
    return level
end
print(coroutine.wrap(nested)(12))

local across = coroutine.wrap(function()
    local ok, why = pcall(function()
        coroutine.yield("in pcall")
        local t = setmetatable({}, {__index = function(_, key)
            return coroutine.yield("index " .. key)
        end})
        coroutine.yield(t.field)
        error({code = 7})
    end)
    coroutine.yield(ok)
    return why.code
end)
print(across(), across(), across("value"), across(), across())

local suspended = coroutine.create(function()
    local guard <close> = setmetatable({}, {__close = function()
        print("closed")
    end})
    coroutine.yield()
    print("never")
end)
coroutine.resume(suspended)
print(coroutine.close(suspended), coroutine.status(suspended))
local left = coroutine.wrap(function()
    local x = 1
    coroutine.yield(x)
    x = x + 1
    return x
end)
left()
