local qlua = require("qlua")
local function price(n)
    local sum = 0
    for i = 1, n do
        sum = sum + i
    end
    return sum
end
local function log(text)
    return price(#text)
end
local function audit(n)
    local p = price(n)
    log("a")
    return p
end
local function round(n)
    return price(n)
end
local function serve(n)
    local a = price(n)
    log("ab")
    audit(n)
    round(n)
    return a + price(1)
end
local function open() end
local function close() end

for _ = 1, 9 do
    serve(2)
end
local again = coroutine.wrap(function()
    for _ = 1, 3 do
        serve(3)
        coroutine.yield()
    end
end)
for _ = 1, 4 do
    again()
end
open()
price(1)
qlua.event(40001)
price(1)
qlua.event(40002)
price(1)
for _ = 1, 2 do
    price(1)
end
close()
price(1)
