-- Errors that leave lines in the middle, nested protected calls, handlers that fail.
local log = {}
local function note(text) log[#log + 1] = text return text end
local function fail(text) note("fail") error(text, 0) end
local function risky(n)
    local a = note("a") local b = n > 2 and fail("b") or note("b") local c = note("c")
    local t = {note("1"), n > 1 and fail("t") or 2, note("3")}
    if n > 0 then note("x") fail("if") end note("after")
    return a, b, c, t
end
for n = 0, 3 do
    print((select("#", pcall(risky, n))), (select(2, pcall(risky, n))))
end
print(pcall(pcall, error, "inner"))
print(pcall(function()
    local ok, why = pcall(function()
        note("deep")
        local ok, why = pcall(fail, "deepest")
        note("not " .. tostring(ok)) error(why .. "!", 0) note("never")
    end)
    note(why)
    error("not " .. tostring(ok), 0)
end))
print(xpcall(function()
    local t = nil
    return t.field
end, function(why)
    note("handler")
    return (why:gsub("^.-:%d+: ", ""))
end))
print(xpcall(fail, function(why)
    if why == "first" then
        error("second", 0)
    end
    return why
end, "first"))
print(select(2, pcall(function() local s = "a" .. {} return s end)))
print(select(2, pcall(function() return #5 + note("never") end)))
print(select(2, pcall(function() return nil > 1 and note("never") end)))
print(pcall(string.rep, "x", -1), pcall(string.rep))
local function recurse(n) if n == 0 then error("bottom", 0) end return 1 + recurse(n - 1) end
print(pcall(recurse, 50))
print(#log, table.concat(log, " "))
