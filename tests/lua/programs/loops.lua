-- Loops with zero, one and many rounds: integer, float, negative, overflowing; repeat with
-- upvalues; nested breaks; a loop that an error leaves.
local total = 0
for i = 1, 0 do total = total + 1 end
for i = 3, 3 do total = total + 1 end
for i = 1, 0.5 do total = total + 1 end
for x = 1.0, 2 do total = total + x end
for x = 1, 0.0, -0.25 do total = total + x end
for x = 2.5, 1 do total = total + x end
for i = math.maxinteger - 2, math.maxinteger do total = total + (i & 1) end
for i = math.mininteger, math.mininteger + 3, 2 do total = total - (i & 1) end
for _ in pairs({}) do
    total = total + 1
end
for _, v in ipairs({1, 2, nil, 4}) do
    total = total + v
end
local closures = {}
local n = 0
repeat
    local mine = n
    closures[#closures + 1] = function() mine = mine + 1 return mine end
    n = n + 1
until mine >= 4 and closures[1]() > 0
repeat local once = true until once
while n > 0 do
    n = n - 1
    if n == 2 then break end
    for i = 1, n do
        if i == 2 then break end
        while true do
            total = total + 1
            if total % 2 < 1 then break end
        end
    end
end
while false do total = -1 end
print(pcall(function()
    for i = 1, 10 do
        for k = i, 10 do
            if i * k == 12 then error("left " .. i .. " " .. k, 0) end
        end
    end
end))
print(pcall(function() for i = 1, 10, 0 do total = 0 end end))
print(pcall(function() for i = "x", 10 do total = 0 end end))
print(pcall(function() for _ in nil do total = 0 end end))
local function countdown(_, i)
    i = i - 1
    if i == 0 then error({rest = i}) end
    return i
end
print(select("#", pcall(function()
    for i in countdown, nil, 5 do
        total = total + i
    end
    total = 0
end)))
print(total, n, #closures, closures[2]())
