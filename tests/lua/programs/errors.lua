-- Errors: caught at several depths, in handlers, in C functions, in callbacks, stack overflow.
local function fail(n)
    if n == 0 then
        error("at the bottom")
    end
    fail(n - 1)
    print("never")
end
local function try(n)
    local ok, why = pcall(fail, n)
    return ok, why
end
for n = 0, 5 do
    print(try(n))
end
print(xpcall(fail, function(message)
    return "handled: " .. message
end, 3))
print(select("#", pcall(pcall, error, nil)))
print(pcall(string.rep))
print(pcall(string.gsub, "abc", "%w", function(c)
    if c == "c" then error("in a callback", 0) end
    return c:upper()
end))
local t = {3, 1, 2, 5, 4}
print(pcall(table.sort, t, function(a, b)
    if a == 5 or b == 5 then error("in a comparison", 0) end
    return a < b
end))
local function nest(n)
    return (string.gsub("x", "x", function() return nest(n + 1) end))
end
local ok, why = pcall(nest, 1)
print(ok, (tostring(why):match("C stack overflow")))
print(xpcall(function() local x = nil; return x.field end, function(m)
    error(m)
end))
local function arithmetic(a)
    local b = a + 1
    local c = b .. "x"
    return c + {}
end
print(pcall(arithmetic, 1))
print(pcall(arithmetic, {}))
