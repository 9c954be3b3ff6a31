-- goto: forward, backward, continue, out of nested loops, with closures.
local n = 0
::again::
n = n + 1
if n < 10 then goto again end
for i = 1, 10 do
    for k = 1, 10 do
        if k == 5 then goto next_i end
        if i * k == 28 then goto out end
        n = n + 1
    end
    ::next_i::
end
::out::
local fs = {}
do
    local i = 1
    ::top::
    local captured = i
    fs[i] = function() return captured end
    i = i + 1
    if i <= 5 then goto top end
end
for i = 1, #fs do n = n + fs[i]() end
local function search(t, wanted)
    for i = 1, #t do
        for k = 1, #t[i] do
            if t[i][k] == wanted then
                goto found
            end
        end
    end
    do return nil end
    ::found::
    return wanted
end
print(n, search({{1, 2}, {3, 4}}, 3), search({{1}}, 9))
