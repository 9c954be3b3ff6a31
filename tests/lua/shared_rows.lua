-- Coroutines that are resumed in turn, closed, nested and ended by an error: body is called 9 times, g 18 times, outer 4.
local function body(n) local function g() coroutine.yield(n) return n end g() g() return n end
local t = {}
for i = 1, 5 do t[i] = coroutine.create(body); coroutine.resume(t[i], i) end
for i = 1, 5 do coroutine.resume(t[i]) end
coroutine.close(t[2]); coroutine.close(t[4])
for i = 1, 5, 2 do coroutine.resume(t[i]) end
-- nested: a coroutine resumes another one
local function outer() local c = coroutine.wrap(body); c(1); c(); coroutine.yield(1); c() end
local o = {}
for i = 1, 4 do o[i] = coroutine.wrap(outer); o[i]() end
for i = 1, 4 do o[i]() end
local ok = pcall(coroutine.wrap(function() error("x") end))
