local qlua = require("qlua")
local function work(n)
    return n
end
local function say(...)
    print(...)
end
say(qlua.running(), qlua.recording())
work(1)
say(qlua.stop(), qlua.stop(), qlua.recording())
work(2)
say(qlua.start(), qlua.start(), qlua.recording())
for i = 1, 6 do
    if i == 3 then qlua.stop() end
    if i == 5 then qlua.start() end
    work(i)
end
qlua.mark("half way")
qlua.counter("queue", 7)
qlua.counter("queue", -1.5)
say(qlua.event(40000))
local waiting = coroutine.wrap(function()
    coroutine.yield()
    work(4)
end)
waiting()
local function halfway()
    say(qlua.snapshot("half.qprof"))
    return work(5)
end
halfway()
waiting()
for _, wrong in ipairs({
    function() qlua.event(39999) end,
    function() qlua.event("x") end,
    function() qlua.counter("queue") end,
    function() qlua.counter("queue", 1e30) end,
    function() qlua.mark({}) end,
    function() qlua.snapshot({}) end,
}) do
    say(pcall(wrong))
end
