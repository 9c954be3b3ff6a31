-- A test runner that names a context for each test, some of which fail.
local qlua = require("qlua")
local function add(a, b)
    return a + b
end
local function classify(n)
    if n < 0 then
        return "negative"
    elseif n == 0 then
        return "zero"
    end
    for i = 2, n - 1 do
        if n % i == 0 then
            return "composite"
        end
    end
    return "other"
end
local tests = {
    {"adds", function()
        assert(add(1, 2) == 3)
    end},
    {"knows zero", function()
        assert(classify(0) == "zero")
    end},
    {"knows primes", function()
        assert(classify(7) == "other")
        assert(classify(9) == "composite")
    end},
    {"fails", function()
        assert(add(2, 2) == 5)
        print("never")
    end},
    {"knows negatives", function()
        assert(classify(-1) == "negative")
    end},
}
local function before_each(name)
    qlua.context(name)
end
local function after_each()
    qlua.context()
end
for round = 1, 2 do
    for _, test in ipairs(tests) do
        before_each(test[1])
        local ok = pcall(test[2])
        after_each()
        print(round, test[1], ok)
    end
end
