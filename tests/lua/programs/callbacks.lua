-- Lua called from C: sort comparisons, gsub replacements, tostring, load readers.
local seed = 42
local function random()
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed
end
local t = {}
for i = 1, 200 do t[i] = random() % 1000 end
local n = 0
table.sort(t, function(a, b)
    n = n + 1
    return a < b
end)
table.sort(t, function(a, b) return a > b end)
print(t[1], t[200])
local text = ("the quick brown fox jumps over the lazy dog "):rep(20)
local count = 0
local upper = text:gsub("%a+", function(word)
    count = count + 1
    if #word > 3 then return word:upper() end
end)
print(count, #upper)
print((text:gsub("o", {o = "0"}):sub(1, 20)))
local parts = {"return ", "1 ", "+ ", "2"}
local at = 0
print(load(function()
    at = at + 1
    return parts[at]
end)())
print(tostring(setmetatable({}, {__tostring = function() return "named" end})))
print(table.concat(setmetatable({}, {__index = function(_, i) return "x" .. i end, __len = function()
    return 3
end}), ","))
