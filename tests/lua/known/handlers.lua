-- 2,000 coroutines of a server run the same handler, which does nearly all of its work.
local function parse(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function render(n) local x = 0 for i = 1, n do x = x + i % 5 end return x end
local function handler()
    for _ = 1, 3 do
        parse(400)
        coroutine.yield()
        render(400)
    end
end
local waiting = {}
local function accept() waiting[#waiting + 1] = coroutine.create(handler) end
local function loop()
    for _ = 1, 2000 do accept() end
    for _ = 1, 4 do for _, co in ipairs(waiting) do coroutine.resume(co) end end
end
loop()
