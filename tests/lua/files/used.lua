local M = {}
local Class = {}
Class.__index = Class
M.Class = Class
function Class.new(v) return setmetatable({v = v}, Class) end
function Class:get() return self.v end
function Class:set(v)
    self.v = v
end
local function helper(n)
    return n and n + 1
end
function M.called()
    return 1
end
function M.never()
    return helper(1)
end
M.nested = function()
    return function()
        return helper(nil)
    end
end
handler = {
    on_start = function() return "started" end,
}
return M
