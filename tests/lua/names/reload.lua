-- The same code loaded again, and texts that are made anew each time.
for _ = 1, 3 do
    dofile("minified.lua")
    loadfile("minified.lua")()
end
local text = "local function f() return 1 end return f() + (function() return 2 end)()"
for _ = 1, 1000 do load(text)() end
for i = 1, 1000 do load("local function f() return " .. i .. " end return f()")() end
for i = 1, 50 do
    load("local function f() return " .. i .. " end" .. (" f()"):rep(i) .. ("\n"):rep(i), "=page")()
end
local function parts(list)
    return function() return table.remove(list, 1) end
end
for i = 1, 5 do load(parts{"return ", tostring(i)})() end
for i = 1, 5 do load("return load('return " .. i .. "')()")() end
local stripped = string.dump(loadfile("minified.lua"), true)
load(stripped)()
load(stripped)()
