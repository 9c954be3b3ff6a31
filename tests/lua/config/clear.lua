local function work(n)
    return n
end
local function wipe() end
local function run()
    for i = 1, 3 do
        work(i)
        if i == 2 then wipe() end
        work(i)
    end
    work(4)
end
run()
work(5)
