-- The worst case for a recorder: a call does next to nothing. fib.lua [N]
local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end
local began = os.clock()
assert(fib(tonumber(arg[1] or 32)) > 0)
io.write(os.clock() - began, "\n")
