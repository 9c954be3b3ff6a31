-- A module whose functions are defined in every way that gives them a name.
local M = {}
local function helper(x)
    return x * 2
end
function M.scale(x)
    return helper(x)
end
M.shift = function(x)
    return x + 1
end
M.Point = {}
M.Point.__index = M.Point
function M.Point:norm()
    return self.x
end
local Shape = {}
Shape.__index = Shape
function Shape.new()
    return setmetatable({}, Shape)
end
function Shape:draw()
    return "shape"
end
M.early = M.scale(3) -- called before the module is loaded
function M.make()
    return Shape.new()
end
function M.compose(f, g)
    return function(x)
        return f(g(x))
    end
end
return M
