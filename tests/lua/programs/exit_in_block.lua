-- os.exit in the middle of a line, in a coroutine, below pcall, table.sort and a metamethod.
local seen = 0
local function leave(n)
    seen = seen + 1 if seen > n then print("leaving") os.exit(7) print("never") end seen = seen + 1
    return seen
end
local proxy = setmetatable({}, {__index = function(_, key)
    local before = leave(4) seen = seen + before
    return key
end})
local suspended = coroutine.wrap(function() local x = leave(100) coroutine.yield(x) print("never") end)
suspended()
local co = coroutine.wrap(function()
    for i = 1, 10 do
        local ok = pcall(function()
            local list = {3, 1, 2}
            table.sort(list, function(a, b)
                local field = proxy[a] seen = seen + 0 * field
                return a < b
            end)
            print("never")
        end)
        print("never", ok)
    end
end)
co()
print("never")
