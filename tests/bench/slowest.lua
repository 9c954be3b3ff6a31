-- slowest.lua: requests of ten endpoints in turn. Of each thousand one does 40 times the work, of another endpoint each time.
-- arg[1]: how many. arg[2]: "requests"; "calls": the same calls, which are no requests.
local qlua = require("qlua")

local function price(item) return item.price * item.count end
local function sum(items)
    local total = 0
    for i = 1, #items do total = total + price(items[i]) end
    return total
end
local function render(items, total)
    local lines = {}
    for i = 1, #items do lines[i] = string.format("%s=%d", items[i].name, items[i].price) end
    return table.concat(lines, ",") .. total
end
local function handle(items) return #render(items, sum(items)) end

local few, many = {}, {}
for i = 1, 400 do
    many[i] = { name = "item" .. i, price = i, count = i % 7 }
    if i <= 10 then few[i] = many[i] end
end
local endpoints = {}
for i = 0, 9 do endpoints[i] = "GET /" .. i end

local is_request = arg[2] == "requests"
for i = 1, tonumber(arg[1]) do
    local items = i % 1000 == i // 1000 % 10 and many or few
    local trace = ("00-%032x-%016x-01"):format(i, i)
    if is_request then
        qlua.request(endpoints[i % 10], trace, handle, items)
    else
        handle(items)
    end
end
