-- 1500 coroutines that are collected in the middle of two functions, and their code with them.
for i = 1, 1500 do
    local wait = load([[
        local function wait(n)
            coroutine.yield(n)
            return n
        end
        return wait
    ]], "=waiting")()
    local co = coroutine.wrap(function()
        wait(i)
        return "never"
    end)
    co()
    if i % 100 == 0 then collectgarbage() end
end
