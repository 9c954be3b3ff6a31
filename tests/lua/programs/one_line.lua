-- Functions that share a line, with branches each; calls that continue in tail calls and varargs.
local function a(x) if x then return 1 else return 2 end end local function b(...) return select("#", ...) end
local f, g = function(x) return x and 1 or 0 end, function(x) for i = 1, x do x = x + 1 end return x end
print(a(true), a(false), a(nil), b(), b(nil, nil), f(1), f(nil), g(0), g(3))
local function make(n) return function(m) if m > n then return function() return m end end return function() return n end end end
print(make(1)(2)(), make(2)(1)(), make(3)(3)())
local function loop(n, ...) if n == 0 then return ... end return loop(n - 1, n, ...) end
print(loop(5), loop(0), (loop(2)))
local function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
print(even(10), odd(7), even(3))
local function spread(...) local t = {...} local n = 0 for _, v in ipairs(t) do n = n + v end return n, ... end
print(spread(), spread(1), (spread(1, 2, 3)))
local object = {n = 0, add = function(self, k) self.n = self.n + k return self end}
print(object:add(1):add(2):add(3).n) local rest = {spread(4, 5)} print(#rest) if #rest == 3 then print("three") end
