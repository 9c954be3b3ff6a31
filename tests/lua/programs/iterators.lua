-- for loops: numeric, generic, C and Lua iterators, breaks, empty ones, to-be-closed.
local total = 0
for i = 1, 100 do total = total + i end
for i = 10, 1, -3 do total = total + i end
for i = 5, 1 do total = total + 1000 end
for x = 0.5, 2.5, 0.25 do total = total + x end
local t = {}
for i = 1, 50 do t[i] = i * i end
for i, v in ipairs(t) do
    if i > 30 then break end
    if v % 2 == 0 then goto continue end
    total = total + v
    ::continue::
end
for k, v in pairs({a = 1}) do total = total + v end
for _ in pairs({}) do total = total + 1e6 end
for _ in next, {} do total = total + 1e6 end
local function range(n)
    return function(_, i) if i < n then return i + 1 end end, nil, 0
end
for i in range(25) do total = total + i end
local function closing(n)
    local guard = setmetatable({}, {__close = function() total = total + 1 end})
    return function(_, i) if i < n then return i + 1 end end, nil, 0, guard
end
for i in closing(5) do if i == 3 then break end end
for i in closing(2) do total = total + i end
for word in ("one two three"):gmatch("%a+") do total = total + #word end
local i = 0
while true do
    i = i + 1
    if i > 17 then break end
    if i % 3 == 0 then total = total + 1 elseif i % 3 == 1 then total = total - 1 else total = total + 2 end
end
repeat local done = i == 0; i = i - 1 until done
print(total)
