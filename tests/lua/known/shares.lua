-- In each function three loops do 60, 30 and 10 percent of the work: without calls, with calls of C and of
-- Lua functions, with allocations; and the body of a loop is on three lines.
local n = 20000 -- of the smallest loop
local floor = math.floor

local function plain()
    local x = 0
    for i = 1, 6 * n do x = x + i % 7 end -- plain 60
    for i = 1, 3 * n do x = x + i % 7 end -- plain 30
    for i = 1, 1 * n do x = x + i % 7 end -- plain 10
end

local function calls()
    local x = 0
    for i = 1, 6 * n do x = x + floor(i) end -- calls 60
    for i = 1, 3 * n do x = x + floor(i) end -- calls 30
    for i = 1, 1 * n do x = x + floor(i) end -- calls 10
end

local function allocations()
    local t
    for i = 1, 6 * n do t = {i, i} end -- allocations 60
    for i = 1, 3 * n do t = {i, i} end -- allocations 30
    for i = 1, 1 * n do t = {i, i} end -- allocations 10
end

local function one(x)
    return x + 1
end

local function lua_calls()
    local x = 0
    for i = 1, 6 * n do x = one(x) end -- lua_calls 60
    for i = 1, 3 * n do x = one(x) end -- lua_calls 30
    for i = 1, 1 * n do x = one(x) end -- lua_calls 10
end

local function body()
    local x, y, z = 0, 0, 0
    for i = 1, n do
        x = x + i % 7; x = x + i % 7; x = x + i % 7; x = x + i % 7; x = x + i % 7; x = x + i % 7 -- body 60
        y = y + i % 7; y = y + i % 7; y = y + i % 7 -- body 30
        z = z + i % 7 -- body 10
    end
end

for _ = 1, tonumber(arg and arg[1]) or 40 do
    for _ = 1, 8 do plain() body() end
    for _ = 1, 6 do calls() lua_calls() end
    for _ = 1, 2 do allocations() end
end
