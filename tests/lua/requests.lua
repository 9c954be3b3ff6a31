-- 100,000 requests of 10 endpoints, of which 100 do 40 times the work; then errors, coroutines, nesting.
local qlua = require("qlua")
local trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

local function work(n)
    local sum = 0
    for i = 1, n do sum = sum + i end
    return sum
end
local function handle(n, ...) return work(n), ... end

for i = 1, 100000 do
    local n = i % 1000 == 7 and 400 or 10
    local sum, a, b = qlua.request("GET /" .. i % 10, trace, handle, n, i, nil)
    assert(sum == n * (n + 1) // 2 and a == i and b == nil)
end

-- an error is passed on, and a handler sees where it was raised
local function inner() error("deep", 0) end
local function outer() inner() end
local ok, message = pcall(qlua.request, "failing", nil, outer)
assert(not ok and message == "deep")
local object = {}
ok, message = pcall(qlua.request, "failing", nil, error, object)
assert(not ok and message == object)
local calls = 0
ok, message = xpcall(qlua.request, function(m)
    calls = calls + 1
    return debug.traceback(m)
end, "failing", nil, outer)
assert(not ok and calls == 1 and message:find("in upvalue 'inner'", 1, true), message)
ok, message = pcall(qlua.request, "nested", nil, qlua.request, "failing", nil, outer)
assert(not ok and message == "deep")

-- coroutines that yield inside of requests, in turn; one of them fails, one is left
local threads = {}
for k = 1, 10 do
    threads[k] = coroutine.create(function(...)
        return qlua.request("co", trace, function(x)
            assert(x == k)
            for i = 1, 3 do
                assert(coroutine.yield(i) == i * k)
                work(10)
            end
            if k == 4 then inner() end
            return "done", k
        end, ...)
    end)
end
for k = 1, 10 do assert(select(2, coroutine.resume(threads[k], k)) == 1) end
for i = 1, 3 do
    for k = 1, 10 do
        if k ~= 9 or i < 3 then
            local is_good, a, b = coroutine.resume(threads[k], i * k)
            if i < 3 then
                assert(is_good and a == i + 1)
            else
                assert(is_good == (k ~= 4) and a == (k == 4 and "deep" or "done") and (k == 4 or b == k))
            end
        end
    end
end
threads = nil

-- a request inside of a request, by coroutines that the outer one made
qlua.request("outer", nil, function()
    local co = coroutine.wrap(function() return qlua.request("inner", nil, work, 100) end)
    assert(co() == 5050)
end)

-- wrong headers are ignored, wrong arguments are errors
for _, header in ipairs({ "", "x", trace:upper(), trace .. "-more", trace:gsub("^00", "ff"), trace:gsub("0af76", "0ag76"),
    "00-" .. ("0"):rep(32) .. trace:sub(36), trace:sub(1, 54), ("x"):rep(70000) }) do
    assert(qlua.request("header", header, work, 1) == 1)
end
assert(qlua.request("header", trace:gsub("^00", "01") .. "-more", work, 1) == 1)
assert(not pcall(qlua.request))
assert(not pcall(qlua.request, nil, nil, work))
assert(not pcall(qlua.request, "no function", nil))
assert(not pcall(qlua.request, "not callable", nil, 7))
assert(qlua.request(("long"):rep(20000), nil, work, 1) == 1)
assert(qlua.request("", nil, work, 1) == 1)
