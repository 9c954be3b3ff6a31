-- A module, for chunks.lua.
local shapes = {}
shapes.__index = shapes
local function area(w, h)
    return w * h
end
function shapes.new(w, h)
    return setmetatable({w = w, h = h}, shapes)
end
function shapes:area()
    return area(self.w, self.h)
end
shapes.describe = function(s)
    return s.w .. "x" .. s.h
end
function shapes.total(list)
    local sum = 0
    for _, s in ipairs(list) do sum = sum + s:area() end
    return sum
end
return shapes
