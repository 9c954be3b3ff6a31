-- Code made at run time: load, require, dofile of text, string.dump with and without strip.
package.path = "./?.lua"
local shapes = require("shapes")
assert(shapes == require("shapes"))
local box = shapes.new(3, 4)
print(box:area(), shapes.describe(box), shapes.total({box, box, shapes.new(1, 1)}))
for i = 1, 20 do
    local f = load("local x = ... ; return x * 2", "=twice")
    assert(f(i) == i * 2)
end
local made = {}
for i = 1, 5 do
    made[i] = load("return function(a) return a + " .. i .. " end", "=adder" .. i)()
end
local sum = 0
for round = 1, 3 do
    for i = 1, 5 do sum = sum + made[i](round) end
end
print(sum)
print(load("syntax error here"))
print(pcall(load("error('from a string')", "@virtual.lua")))
local function original(n)
    local r = 0
    for i = 1, n do r = r + i end
    return r
end
local copy = load(string.dump(original))
local stripped = load(string.dump(original, true))
print(original(3), copy(4), copy(5), stripped(6), stripped(7), stripped(8))
