-- "line instructions", as Lua's count hook sees them.
local work = dofile("work.lua")
local counts = {}
debug.sethook(function()
    local f = debug.getinfo(2, "S")
    if f.short_src == "work.lua" then counts[f.linedefined] = (counts[f.linedefined] or 0) + 1 end
end, "", 1)
work()
debug.sethook()
for line, n in pairs(counts) do print(line .. "\t" .. n) end
