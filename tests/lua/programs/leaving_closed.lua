-- os.exit with close in the middle of frames, inside a coroutine, with later lines that never run.
local function deep(n)
    local before = n
    if n == 0 then
        print("leaving")
        os.exit(true, true)
        print("never")
    end
    deep(n - 1)
    before = before + 1
    return before
end
local co = coroutine.wrap(function()
    local x = 1
    deep(5)
    x = x + 1
    return x
end)
local waiting = coroutine.wrap(function()
    coroutine.yield(1)
    print("never")
end)
waiting()
co()
print("never")
