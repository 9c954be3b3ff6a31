-- example.lua: what the module records: functions, C functions, errors, a tail call and a coroutine.
--
--     lua -lqprof example.lua
local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end

local function squares(n)
    return coroutine.wrap(function()
        for i = 1, n do coroutine.yield(i * i) end
    end)
end

local function parse(text)
    return tonumber(text) or error("no number: " .. text)
end

local function last(n)
    if n == 0 then return "done" end
    return last(n - 1)
end

local sum = 0
for square in squares(100) do sum = sum + square end
for _, text in ipairs({"1", "two", "3"}) do pcall(parse, text) end
table.sort({3, 1, 2}, function(a, b) return a < b end)
print(fib(20), sum, last(10))
