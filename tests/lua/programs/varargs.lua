-- Vararg functions: select, pack, unpack, in loops, deep, as main chunk arguments.
local function count(...)
    return select("#", ...)
end
local function sum(...)
    local total = 0
    for i = 1, select("#", ...) do
        total = total + (select(i, ...) or 0)
    end
    return total
end
local function first(a, ...)
    if ... then return a end
    return nil, ...
end
local function forward(f, ...)
    local t = table.pack(...)
    return f(table.unpack(t, 1, t.n))
end
local function repeated(n, ...)
    while n > 0 do
        if select("#", ...) == 0 then return n end
        n = n - 1
    end
    return ...
end
print(count(), count(nil, nil), sum(1, 2, 3, nil, 5), first(1), first(1, 2))
print(forward(sum, 4, 5, 6), forward(count, nil, nil, nil), repeated(3), repeated(4, "x"), ...)
