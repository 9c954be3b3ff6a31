local function fill(n)
    local t = {}
    for i = 1, n do
        t[i] = {}
        local s = "x" .. i
    end
    return t
end
local function closures(n)
    local last
    for i = 1, n do
        last = function() return n end
    end
    return last
end
fill(1000) closures(500)
