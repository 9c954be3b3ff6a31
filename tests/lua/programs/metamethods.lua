-- Metamethods of every kind of operation.
local V = {}
V.__index = V
local function vector(x, y) return setmetatable({x = x, y = y}, V) end
function V.__add(a, b) return vector(a.x + b.x, a.y + b.y) end
function V.__sub(a, b) return vector(a.x - b.x, a.y - b.y) end
function V.__mul(a, k) return vector(a.x * k, a.y * k) end
function V.__unm(a) return vector(-a.x, -a.y) end
function V.__eq(a, b) return a.x == b.x and a.y == b.y end
function V.__lt(a, b) return a.x < b.x end
function V.__le(a, b) return a.x <= b.x end
function V.__len(a) return 2 end
function V.__concat(a, b) return tostring(a) .. tostring(b) end
function V.__tostring(a) return "(" .. a.x .. "," .. a.y .. ")" end
function V.__call(a, k) return a.x * k + a.y end
function V:length2() return self.x * self.x + self.y * self.y end
local a, b = vector(1, 2), vector(3, 4)
for i = 1, 10 do
    local c = (a + b) * i - -a
    if c == b or c < a then print("odd") elseif c <= b then print("small") end
    if c ~= a and not (c > b) then print(#c, c .. a, c(i), c:length2()) end
end
local log = {}
local proxy = setmetatable({}, {
    __index = function(_, k) log[#log + 1] = k return k end,
    __newindex = function(t, k, v) rawset(t, k, v) end,
})
for i = 1, 5 do proxy[i] = proxy["key" .. i] end
print(#log, proxy[3], rawget(proxy, "none"))
local mixed = setmetatable({}, {__idiv = function() return 1 end, __band = function() return 2 end,
    __shl = function() return 3 end, __bnot = function() return 4 end})
print(mixed // 2, 7 & mixed, mixed << 1, ~mixed)
