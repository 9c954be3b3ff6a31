-- Tail calls: to itself, mutual, to C, through __call, out of a vararg function.
local function loop(n)
    if n > 0 then
        return loop(n - 1)
    end
    return "done"
end
local pong
local function ping(n) if n == 0 then return "ping" end return pong(n - 1) end
function pong(n) if n == 0 then return "pong" end return ping(n - 1) end
local function to_c(x)
    return tostring(x)
end
local callable = setmetatable({}, {__call = function(self, a, b)
    return a + b
end})
local function through_call(a)
    return callable(a, 1)
end
local function spread(...)
    return select("#", ...)
end
local function from_vararg(...)
    return spread(...)
end
print(loop(10000), ping(7), ping(8), to_c(42), through_call(5), from_vararg(1, nil, 3))
