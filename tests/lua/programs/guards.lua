-- To-be-closed variables: left by the end, break, goto, return, tail call, errors; some fail.
local log = {}
local function guard(name, fails)
    return setmetatable({}, {__close = function(_, why)
        log[#log + 1] = name .. (why and "!" or "")
        if fails then
            error(name .. " failed", 0)
        end
    end})
end
do
    local a <close> = guard("a")
    local b <close> = guard("b")
    log[#log + 1] = "body"
end
for i = 1, 3 do
    local c <close> = guard("c" .. i)
    if i == 2 then break end
end
do
    local n = 0
    ::top::
    do
        local d <close> = guard("d")
        n = n + 1
        if n < 3 then goto top end
    end
end
local function returns(x)
    local e <close> = guard("e")
    if x then return x, guard("unused") end
    return returns(1)
end
returns()
print(pcall(function()
    local f <close> = guard("f", true)
    local g <close> = guard("g", true)
    error("body failed", 0)
    log[#log + 1] = "never"
end))
print(pcall(function()
    local h <close> = guard("h", true)
    log[#log + 1] = "fine"
    return "lost"
end))
for k, v in (function() return next, {x = 1}, nil, guard("loop") end)() do
    log[#log + 1] = k
end
print(pcall(function() local i <close> = 42 end))
local co = coroutine.wrap(function()
    local j <close> = setmetatable({}, {__close = function() coroutine.yield("closing") log[#log + 1] = "j" end})
    coroutine.yield("body")
    return "end"
end)
print(co(), co(), co())
print(table.concat(log, " "))
