-- 10 finalizers while the program runs, 3 when the state is closed, 1 of them failing.
local function finalize(object)
    if object.fails then error("in a finalizer") end
    return object
end
local meta = {__gc = finalize}
for i = 1, 10 do setmetatable({}, meta) end
collectgarbage()
collectgarbage()
A = setmetatable({fails = true}, meta)
B = setmetatable({}, meta)
C = setmetatable({}, meta)
