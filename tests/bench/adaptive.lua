-- Programs that use libraries which are not ours, for adaptive.py: adaptive.lua PROGRAM. Each takes
-- about a quarter of a second.
local programs = {}

-- The number of generators of ANSI C's example: the same values in each run.
local function numbers()
    local seed = 17
    return function()
        seed = (seed * 1103515245 + 12345) % 2147483648
        return seed
    end
end

function programs.dkjson()
    local json, next_number, n = require "dkjson", numbers(), 0
    local function value(depth)
        local number = next_number()
        local kind, t = number % 7, {}
        if depth == 0 or kind < 2 then return number / 3 end
        if kind == 2 then return "text " .. number end
        if kind == 3 then return number % 2 == 0 end
        for i = 1, number % 9 + 2 do t[kind == 4 and "k" .. i or i] = value(depth - 1) end
        return t
    end
    for i = 1, 60 do
        n = n + #json.encode((json.decode(json.encode(value(7), {indent = i % 2 == 0}))))
    end
    return n
end

function programs.inspect()
    local inspect, n = require "inspect", 0
    local function value(depth)
        local t = {}
        for i = 1, depth do t["key" .. i], t[i] = value(depth - 1), {i, tostring(i)} end
        return t
    end
    for _ = 1, 20 do n = n + #inspect(value(6)) end
    return n
end

function programs.basexx()
    local basexx, n = require "basexx", 0
    for i = 1, 60 do
        local text = string.rep("any text " .. i, 60)
        n = n + #basexx.from_base64(basexx.to_base64(text)) + #basexx.from_base32(basexx.to_base32(text))
    end
    return n
end

function programs.penlight()
    local pretty, List, n = require "pl.pretty", require "pl.List", 0
    for i = 1, 800 do
        local t = {}
        for k = 1, 20 do t[k] = {name = "item" .. k, list = {k, k + 1, {i}}} end
        n = n + #pretty.read(pretty.write(t)) + List(t):map(function(x) return x.name end):len()
    end
    return n
end

print(assert(programs[arg[1]], "no such program")())
