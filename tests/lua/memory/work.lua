-- Tables, strings, buffers, closures, coroutines, errors, weak tables, finalizers, full collections.
local kept = {}
local function tables(n)
    for i = 1, n do
        kept[#kept + 1] = {i, name = "n" .. i}
    end
end
local function strings(n)
    for i = 1, n do
        kept[#kept + 1] = ("x"):rep(900 + i):upper()
    end
    kept[#kept + 1] = table.concat({("y"):rep(5000), ("z"):rep(70000)})
end
local function deep(n)
    return n > 0 and 1 + deep(n - 1) or 0
end
local function coroutines(n)
    for i = 1, n do
        local step = coroutine.wrap(function()
            tables(i)
            coroutine.yield(i)
            deep(50)
        end)
        step()
        tables(1)
        if i % 2 == 0 then
            step()
        end
    end
end
local function errors(n)
    for i = 1, n do
        pcall(function()
            local doomed <close> = setmetatable({}, {__close = function() tables(1) end})
            error({i})
        end)
    end
end
local function finalizers(n)
    for _ = 1, n do
        setmetatable({}, {__gc = function() tables(1) end})
    end
    collectgarbage()
end
for _ = 1, 5 do
    tables(100)
    strings(30)
    coroutines(40)
    errors(20)
    finalizers(10)
    kept = {}
    collectgarbage("step")
end
collectgarbage("generational")
tables(2000)
deep(5000)
load("return " .. ("{"):rep(50) .. ("}"):rep(50))()
