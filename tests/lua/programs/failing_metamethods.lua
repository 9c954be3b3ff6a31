-- Metamethods that fail, or yield in the middle of a condition.
local kinds = {"__add", "__concat", "__unm", "__len", "__index", "__newindex", "__call", "__lt",
               "__le", "__eq", "__idiv", "__band", "__shl", "__bnot", "__mod", "__pow"}
local mode = "value"
local meta = {}
for i, kind in ipairs(kinds) do
    meta[kind] = function(a, b)
        if mode == "error" then error(kind, 0) end
        if mode == "yield" then return coroutine.yield(kind) end
        return i
    end
end
local function new() return setmetatable({}, meta) end
local function all(a, b)
    local n = 0
    n = n + (a + b) + #(a .. b) + -a + #a + a.x + a(b)
    a.y = 1
    if a < b then n = n + 1 else n = n - 1 end
    if a <= b then n = n + 1 end if a > b or a == b then n = n + 1 end
    while a == b and n % 2 == 0 do n = n + 1 end
    if not (a < 5) then n = n + 100 end
    n = n + (a // b) + (a & b) + (a << b) + ~a + (a % b) + (a ^ b)
    return a < b and n or -n
end
meta.__concat = function() if mode == "error" then error("__concat", 0) end return "text" end
print(all(new(), new()))
mode = "error"
for _, f in ipairs({
    function(a) return a + 1 end, function(a) return 1 .. a end, function(a) return -a end,
    function(a) return #a end, function(a) return a.x end, function(a) a.x = 1 return 1 end,
    function(a) return a() end, function(a) if a < 1 then return 1 end return 2 end,
    function(a) return a <= 1 and 1 end, function(a) return a == new() or 3 end,
}) do
    print(pcall(f, new()))
end
mode = "yield"
for answer = 0, 2 do
    local co = coroutine.wrap(all)
    local kind = co(new(), new())
    local n = 0
    while type(kind) == "string" do
        n = n + 1
        local reply = answer + n
        if kind == "__lt" or kind == "__le" or kind == "__eq" then
            reply = (answer + n) % 2 == 0
        end
        kind = co(reply)
    end
    print(answer, n, kind)
end
