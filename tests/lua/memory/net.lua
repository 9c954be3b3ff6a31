-- What f leaves in memory, by Lua's own account, which is exact: no collection is in between.
collectgarbage("stop")
local kept, before = {}, 0
local function count()
    return math.tointeger(collectgarbage("count") * 1024)
end
local function f(n)
    for i = 1, n do
        kept[i] = {i, tostring(i), ("x"):rep(i)}
        kept[i][2] = nil
    end
end
before = count()
before = count() -- the frames of a call exist now
f(0)
before = count()
f(500)
print(("counted %d"):format(count() - before))
