-- Direct, mutual and deep recursion.
local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end
local is_even
local function is_odd(n)
    if n == 0 then return false end
    return not not is_even(n - 1)
end
function is_even(n)
    if n == 0 then return true end
    return not not is_odd(n - 1)
end
local function depth(n)
    if n > 0 then return 1 + depth(n - 1) end
    return 0
end
local function ackermann(m, n)
    if m == 0 then
        return n + 1
    elseif n == 0 then
        return (ackermann(m - 1, 1))
    end
    return (ackermann(m - 1, ackermann(m, n - 1)))
end
print(fib(15), is_odd(101), depth(5000), ackermann(2, 5))
