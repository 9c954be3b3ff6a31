-- churn.lua MODE: the same calls, with the collector stopped or not.
collectgarbage(arg[1])
local kept
local function churn(n)
    for i = 1, n do kept = {i} end
end
for _ = 1, 20 do churn(1000) end
