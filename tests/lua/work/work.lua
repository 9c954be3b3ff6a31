-- Functions whose instructions Lua's own count hook counts, one by one. Without varargs, of which the hook leaves
-- the first instruction out, and without a generic for, of which one dispatch executes several.
local function sum(n) local s = 0 for i = 1, n do s = s + i end return s end
local function choose(a, b)
    if a > b and a ~= 3 then
        return a
    elseif a == b then
        return 0
    end
    local c = a < b or b == 7
    return c and b or a
end
local function rounds(n)
    local i = 0
    while i < n do
        i = i + 1
        if i == 5 then goto done end
    end
    repeat i = i - 1 until i <= 0
    ::done::
    return i
end
local function join(n) return n == 0 and "" or ("x" .. join(n - 1)) end
local function tail(n) if n > 0 then return sum(n) end return 1 end
local function list(n)
    local t = {1, 2, 3, x = n, y = {n}}
    t[#t + 1] = function() return t.x + n end
    for i = #t - 1, 1, -1 do t[i] = t[i] / 2 end
    return t[4]()
end
local function work()
    for i = 1, 12 do
        sum(i) choose(i, 6) choose(3, i) rounds(i) join(i) tail(i - 3) list(i)
    end
end
return work
