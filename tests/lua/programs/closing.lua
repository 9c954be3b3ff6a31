-- To-be-closed variables: normal exit, break, return, error, errors in __close, tail position.
local log = {}
local function guard(name, fails)
    return setmetatable({}, {__close = function(_, why)
        log[#log + 1] = name .. (why and "!" or "")
        if fails then error("close " .. name, 0) end
    end})
end
local function normal()
    local a <close> = guard("a")
    local b <close> = guard("b")
    return #log
end
local function early(n)
    local c <close> = guard("c")
    if n > 1 then return "early" end
    return "late"
end
local function erring()
    local d <close> = guard("d")
    local e <close> = guard("e", true)
    error("body", 0)
end
local function chain()
    local f <close> = guard("f", true)
    local g <close> = guard("g", true)
end
print(normal(), early(1), early(2))
print(pcall(erring))
print(pcall(chain))
for i = 1, 3 do
    local h <close> = guard("h" .. i)
    if i == 2 then break end
end
print(table.concat(log, " "))
