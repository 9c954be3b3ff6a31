-- The worst case for a recorder: a call does next to nothing.
local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end
local began = os.clock()
assert(fib(32) == 2178309)
io.write(os.clock() - began, "\n")
