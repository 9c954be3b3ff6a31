-- Code that is loaded again and again is one function; 100000 tail calls take no stack.
for i = 1, 20000 do
    assert(load("local x = ... return x", "=again")(i) == i)
end
local function round(n)
    if n > 0 then return round(n - 1) end
end
round(100000)
