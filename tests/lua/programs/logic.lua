-- Conditions as values, short circuits, numeric comparisons with constants, string building.
local function classify(n)
    local size = n < 10 and "small" or n < 100 and "middle" or "large"
    local is_odd = n % 2 == 1
    local is_round = n == 10 or n == 100
    local sign = n > 0
    return size, is_odd, is_round, sign, not (n >= 5 and n <= 50)
end
local counts = {}
for n = -5, 200, 7 do
    local size, is_odd, is_round, sign, is_outside = classify(n)
    local key = size .. (is_odd and "1" or "0") .. (is_round and "1" or "0")
    key = key .. (sign and "+" or "-") .. tostring(is_outside)
    counts[key] = (counts[key] or 0) + 1
    if is_odd == sign then counts.same = (counts.same or 0) + 1
    else counts.other = (counts.other or 0) + 1 end
end
local keys = {}
for k in pairs(counts) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do io.write(k, "=", counts[k], " ") end
local x = nil
local y = x or
    false or
    "third"
local function pick(a, b, c) return a and
    b or
    c end
print(y, pick(1, 2, 3), pick(nil, 2, 3), pick(1, false, 3))
local eq = x == nil
local big = 1.5 > 1 and 2 ^ 10 // 3 ~= 5 and "a" < "b"
print(eq, big, #keys, -x and 1 or 2) -- an error: unary minus on nil
