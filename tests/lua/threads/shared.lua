-- 1,000 coroutines execute the same lines, ten times each.
local function work(n)
    local sum = 0
    for i = 1, n do
        if i % 2 == 0 then
            sum = sum + i
        else
            sum = sum - i
        end
    end
    return sum
end
local coroutines = {}
for i = 1, 1000 do
    coroutines[i] = coroutine.wrap(function()
        for round = 1, 10 do
            work(7)
            coroutine.yield()
        end
    end)
end
for round = 1, 10 do
    for i = 1, 1000 do
        coroutines[i]()
    end
end
