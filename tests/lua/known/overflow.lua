-- Stack overflow: prints how often the function was entered, then continues.
local n = 0
local function descend()
    n = n + 1
    return 1 + descend()
end
assert(not pcall(descend))
local function after() return n end
for i = 1, 7 do after() end
print(n)
