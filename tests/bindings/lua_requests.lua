-- lua_requests.lua: qprof.request() of the module counts every request, and passes on what its function did. Read by test_lua.sh.
local qprof = require("qprof")
local trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

local function work(n) local sum = 0 for i = 1, n do sum = sum + i end return sum end
local function handle(n, ...) work(n) return ... end
assert(qprof.request("nothing is on", nil, work, 3) == 6)
qprof.start({output = "requests.qprof", check_host = true, open_frames = false})

local function inner() error("deep", 0) end
local function outer() inner() end
local function outside() qprof.request("GET /outside", nil, work, 1) work(2) end
qprof.request("GET /first", nil, function() end) -- in no call that is recorded
work(1) -- names are those of first callers in Lua
handle(1)
pcall(function() inner() end)
for i = 1, 200 do
    local a, b, c = qprof.request("GET /" .. i % 2, i % 2 == 1 and trace or nil, handle, 10, 1, nil, i)
    assert(a == 1 and b == nil and c == i)
end
outside()

-- errors pass through, and end what they leave
for i = 1, 3 do
    local ok, message = pcall(qprof.request, "failing", nil, outer)
    assert(not ok and message == "deep")
end
local ok, message = pcall(qprof.request, "nested", nil, qprof.request, "failing", "no header", outer)
assert(not ok and message == "deep")
assert(not pcall(qprof.request))
assert(not pcall(qprof.request, "no function"))
assert(not pcall(qprof.request, "no function", nil))
assert(not pcall(qprof.request, "not callable", nil, 7))

-- coroutines that yield inside of requests, in turn; one of them fails, one is left
if _VERSION ~= "Lua 5.1" then
    local threads = {}
    for k = 1, 5 do
        threads[k] = coroutine.create(function(...)
            return qprof.request("co", trace, function(x)
                for i = 1, 3 do
                    assert(coroutine.yield(i) == i * k)
                    work(10)
                end
                if k == 4 then inner() end
                return "done", k
            end, ...)
        end)
    end
    for k = 1, 5 do assert(select(2, coroutine.resume(threads[k], k)) == 1) end
    for i = 1, 3 do
        for k = 1, 5 do
            if k ~= 3 or i < 3 then
                local is_good, a, b = coroutine.resume(threads[k], i * k)
                if i < 3 then
                    assert(is_good and a == i + 1)
                else
                    assert(is_good == (k ~= 4) and a == (k == 4 and "deep" or "done") and (k == 4 or b == k))
                end
            end
        end
    end
end

-- a request inside of a request, by a coroutine that the outer one made
qprof.request("outer", nil, function()
    local co = coroutine.wrap(function() return qprof.request("inner", nil, work, 100) end)
    assert(co() == 5050)
end)
qprof.stop()
assert(qprof.request("nothing is on", nil, work, 3) == 6)
