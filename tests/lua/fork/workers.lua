-- Workers of a prefork server: the parent calls handle 2 times before it forks, once after each fork and
-- 10 times at the end; worker k calls it 10^k times, in a coroutine of before the fork, and ends.
-- workers.lua [WAY]: "exit", "return", "leave", "error"
local process = require "process"
local way = ... or "exit"

local function parse(n)
    return n + 1
end

local function handle(n)
    return parse(n) * 2
end

local requests = coroutine.create(function(n)
    while true do
        for i = 1, n do
            handle(i)
        end
        n = coroutine.yield(n)
    end
end)

local function work(k)
    assert(coroutine.resume(requests, 10 ^ k))
    if way == "exit" then
        os.exit(0, k == 2)
    elseif way == "leave" then
        process.leave(0)
    elseif way == "error" then
        error({}, 0)
    end
    return k
end

local function serve()
    local children = {}
    for k = 1, 3 do
        local pid = process.fork()
        if pid == 0 then
            return work(k)
        end
        children[k] = pid
        handle(k)
    end
    for _, pid in ipairs(children) do
        print(pid, process.wait(pid))
    end
end

coroutine.resume(requests, 2)
if serve() == nil then
    for i = 1, 10 do
        handle(i)
    end
end
