-- Classes: inheritance by __index, method calls, constructors, callbacks that are methods.
local Animal = {}
Animal.__index = Animal
function Animal.new(name)
    local self = setmetatable({}, Animal)
    self.name = name
    return self
end
function Animal:sound() return "..." end
function Animal:speak(times)
    local out = {}
    for i = 1, times do
        out[#out + 1] = self.name .. " says " .. self:sound()
    end
    return table.concat(out, "; ")
end
local Dog = setmetatable({}, {__index = Animal})
Dog.__index = Dog
function Dog.new(name)
    local self = Animal.new(name)
    return setmetatable(self, Dog)
end
function Dog:sound()
    return "woof"
end
Stack = {}
function Stack:new() return setmetatable({n = 0}, {__index = self}) end
function Stack:push(v)
    self.n = self.n + 1
    self[self.n] = v
end
function Stack:pop()
    if self.n == 0 then return nil, "empty" end
    local v = self[self.n]
    self[self.n], self.n = nil, self.n - 1
    return v
end
local s = Stack:new()
for i = 1, 30 do s:push(i) end
local total = 0
while s.n > 0 do total = total + s:pop() end
print(total, s:pop())
print(Animal.new("cat"):speak(2), Dog.new("rex"):speak(3))
