-- Contexts that change deep below frames that continue, in loops, iterators, metamethods, pcall.
local qlua = require("qlua")
local function switch(name)
    qlua.context(name)
end
local function deep(n, name)
    if n == 0 then
        switch(name)
        return 0
    end
    local r = deep(n - 1, name)
    r = r + 1
    return r
end
local function loop(n)
    local sum = 0
    for i = 1, n do
        if i == 3 then
            switch("loop")
        end
        sum = sum + i
    end
    return sum
end
local function names(list)
    local i = 0
    return function()
        i = i + 1
        switch(list[i])
        return list[i]
    end
end
print(deep(4, "deep"))
print(loop(5))
for name in names({"x", "y", "x"}) do
    print(name)
end
local proxy = setmetatable({}, {
    __index = function(_, key)
        switch(key)
        return key
    end,
    __lt = function(a, b)
        switch("compared")
        return true
    end,
})
local value = proxy.field
print(value)
if proxy < proxy then
    print("less")
end
print(pcall(function()
    switch("protected")
    local function fails()
        switch("failing")
        error("thrown", 0)
    end
    fails()
    print("never")
end))
table.sort({1, 2}, function(a, b)
    switch("sorting")
    return a < b
end)
switch("again")
switch("deep")
print(deep(2, "end"))
os.exit(true)
