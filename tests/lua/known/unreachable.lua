-- Lines that end in MISSED have a statement that is not executed; all others are hit, or have no
-- code. Code that the compiler adds after such a statement does not count.
local function endless(x)
    while true do
        x = x + 1
        if x > 5 then return x end
    end
    x = x - 1 -- MISSED
    return x -- MISSED
end
endless(1)

local function both_ways(a)
    if a then
        return 1
    else
        return 2
    end
end
both_ways(1) both_ways()

local function once(n)
    for i = 1, n do
        do return i end
    end
end
once(1) once(0)

local function closing(n)
    while n do
        local x = n
        local get = function() return x end
        if n > 1 then
            return get()
        else
            break
        end
        x = get() -- MISSED
    end
    if true then
        return get
    else
        for i = 1, 3 do -- MISSED
            n = i -- MISSED
        end
    end
end
closing(1) closing(2)

local function unfinished()
    repeat
        local x = 1
        local get = function() return x end
        do return get() end
    until get() == 1 -- MISSED
end
unfinished()

local function skipped(...)
    do
        goto last
        local never = function(y)
            return y -- MISSED
        end -- MISSED
        never() -- MISSED
    end
    ::last::
    return ...
end
skipped(1)

do return end
skipped(2) -- MISSED
