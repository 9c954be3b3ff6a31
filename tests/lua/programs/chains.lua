-- and/or chains, several statements on a line, comparisons as values, constants in conditions.
local hits = 0
local function yes(v) hits = hits + 1 return v == nil or v end
local function no() hits = hits + 1 return false end
local function pick(a, b, c)
    return a and b or c
end
print(pick(true, false, 3), pick(nil, 1, 2), pick(1, 2, 3), pick(false, nil, nil))
for i = 1, 6 do
    local both = i > 2 and i < 5
    local either = i < 2 or i > 5
    local deep = (i % 2 == 0 and (i % 3 == 0 or yes())) or (no() and yes()) or not (both or either)
    if both and deep or either and not deep then hits = hits + 10 elseif both then hits = hits + 100 end
    local a, b = i == 3, i ~= 3 if a then hits = hits + 1 end if b then hits = hits - 1 end
end
local x = nil
local default = x or {}
x = x and x.field
local same = default == x
while not same do same = yes() end
if true then hits = hits + 1 end
if nil then hits = hits + 1 else hits = hits - 1 end
if x then end
if not x then end
local multi =
    yes(1) and
    no() and
    yes(2) or
    yes(3)
print(hits, multi, 1 < 2, "a" < "b" and "a" <= "b", 2 >= 3, not nil == true)
