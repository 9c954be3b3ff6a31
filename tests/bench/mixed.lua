-- What programs do: strings, tables, closures, methods, sorting, iterators. mixed.lua [ROUNDS]
local Account = {}
Account.__index = Account
function Account.new(name) return setmetatable({name = name, balance = 0, log = {}}, Account) end
function Account:deposit(amount)
    self.balance = self.balance + amount
    self.log[#self.log + 1] = amount
end
function Account:average()
    local sum = 0
    for _, amount in ipairs(self.log) do sum = sum + amount end
    return #self.log > 0 and sum / #self.log or 0
end

local function words(n)
    local list = {}
    for i = 1, n do
        list[i] = ("w%05d"):format(i * 7919 % 10007)
    end
    return list
end

local function histogram(text)
    local counts = {}
    for word in text:gmatch("%w+") do
        counts[word] = (counts[word] or 0) + 1
    end
    return counts
end

local function map(t, f)
    local out = {}
    for i = 1, #t do out[i] = f(t[i]) end
    return out
end

local function matrix(n)
    local m = {}
    for i = 1, n do
        local row = {}
        for k = 1, n do row[k] = (i * k) % 10 + 0.5 end
        m[i] = row
    end
    return m
end

local function multiply(a, b)
    local n = #a
    local c = {}
    for i = 1, n do
        local row, left = {}, a[i]
        for k = 1, n do
            local sum = 0
            for j = 1, n do sum = sum + left[j] * b[j][k] end
            row[k] = sum
        end
        c[i] = row
    end
    return c
end

local function sieve(n)
    local composite, primes = {}, 0
    for i = 2, n do
        if not composite[i] then
            primes = primes + 1
            for k = i * i, n, i do composite[k] = true end
        end
    end
    return primes
end

local function round(size)
    local list = words(size)
    table.sort(list, function(a, b) return a < b end)
    local text = table.concat(list, " ")
    local counts = histogram(text .. " " .. text)
    local upper = text:gsub("%d+", function(digits) return "<" .. digits .. ">" end)
    local accounts = map(list, Account.new)
    for i, account in ipairs(accounts) do
        for k = 1, 5 do account:deposit(i * k % 97) end
    end
    local total = 0
    for _, account in ipairs(accounts) do total = total + account:average() end
    local m = multiply(matrix(60), matrix(60))
    return total + #upper + counts[list[1]] + m[3][7] + sieve(30000)
end

local began = os.clock()
local result
for _ = 1, tonumber(arg[1] or 12) do result = round(2000) end
assert(result > 0)
io.write(os.clock() - began, "\n")
