-- Programs of different kinds, for overhead.py: overhead.lua PROGRAM [SHARE [PART]]. Prints the processor time of this
-- thread alone, in nanoseconds, which that of the recorder's threads is no part of. SHARE: of what it does by default.
-- PART "stopped": the program runs three times, in between while nothing is recorded; its time there is not printed.
-- PART "collect" and "stop": with the collector and without it, in memory that was used before, so that the time is not that of
-- new pages.
local function used()
    local file <close> = assert(io.open("/proc/thread-self/schedstat"))
    return file:read("n")
end
local share = tonumber(arg[2] or 1)
local function times(n) return math.max(1, math.floor(n * share)) end
local programs = {}

-- A call does next to nothing.
function programs.fib()
    local function fib(n)
        if n < 2 then return n end
        return fib(n - 1) + fib(n - 2)
    end
    for _ = 1, times(100) do assert(fib(23) == 28657) end
end

-- Small methods that call each other, found by inheritance.
function programs.methods()
    local Shape = {}
    Shape.__index = Shape
    function Shape.new(class, x, y) return setmetatable({x = x, y = y, n = 0}, class) end
    function Shape:move(dx, dy) self.x, self.y = self.x + dx, self.y + dy end
    function Shape:area() return 0 end
    function Shape:visit(visitor) visitor:see(self) end
    local Box = setmetatable({}, Shape)
    Box.__index = Box
    function Box:area() return self:width() * self:height() end
    function Box:width() return self.x * 2 end
    function Box:height() return self.y * 2 end
    local Disc = setmetatable({}, Shape)
    Disc.__index = Disc
    function Disc:area() return 3.14 * self:square(self.x) end
    function Disc:square(x) return x * x end
    local Sum = {}
    Sum.__index = Sum
    function Sum:see(shape) self.total = self.total + shape:area() end
    local sum, shapes = setmetatable({total = 0}, Sum), {}
    for i = 1, 100 do shapes[i] = Shape.new(i % 3 == 0 and Disc or Box, i, i + 1) end
    for _ = 1, times(15000) do
        for _, shape in ipairs(shapes) do
            shape:move(0.5, -0.5)
            shape:visit(sum)
        end
    end
    assert(sum.total ~= 0)
end

-- Text is taken apart and put together by functions of the library and callbacks.
function programs.strings()
    local function quote(word) return "<" .. word:upper() .. ">" end
    local function line(i) return ("%d: %s %s"):format(i, ("x"):rep(i % 7), tostring(i * 3)) end
    local n = 0
    for round = 1, times(250) do
        local lines = {}
        for i = 1, 500 do lines[#lines + 1] = line(i + round) end
        local text = table.concat(lines, "\n")
        text = text:gsub("%a+", quote)
        for word in text:gmatch("[^\n]+") do
            n = n + #word + (word:find(":", 1, true) or 0)
            for i = 1, #word, 3 do n = n + word:byte(i) end
        end
    end
    assert(n > 0)
end

-- Generators that feed each other.
function programs.coroutines()
    local function count(n)
        return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
    end
    local function filter(p, source)
        return coroutine.wrap(function() for x in source do if p(x) then coroutine.yield(x) end end end)
    end
    local function map(f, source)
        return coroutine.wrap(function() for x in source do coroutine.yield(f(x)) end end)
    end
    local sum = 0
    for round = 1, times(1000) do
        local odd = filter(function(x) return x % 2 == 1 end, count(1000))
        for x in map(function(x) return x * round end, odd) do sum = sum + x end
    end
    assert(sum > 0)
end

-- Trees and lists that live for a moment: the collector has most of the time.
function programs.tables()
    local function tree(depth)
        if depth == 0 then return {} end
        return {left = tree(depth - 1), right = tree(depth - 1)}
    end
    local function check(t) return t.left and 1 + check(t.left) + check(t.right) or 1 end
    local kept, n = tree(14), 0
    for round = 1, times(48) do
        n = n + check(tree(12))
        local list = {}
        for i = 1, 8000 do list[i] = {key = i * 7919 % 8009, round = round} end
        table.sort(list, function(a, b) return a.key < b.key end)
        n = n + list[1].key
    end
    assert(n + check(kept) > 0)
end

-- A large program of many functions and paths: Debian's luacheck, which checks Penlight.
function programs.luacheck()
    local script = "/usr/bin/luacheck"
    local folders = "/usr/share/lua/5.%d/?.lua;/usr/share/lua/5.%d/?/init.lua"
    package.path = folders:format(4, 4) .. ";" .. folders:format(1, 1)
    arg = {[0] = script, "--no-color", "--no-cache", "-qqq", "/usr/share/lua/5.1/pl" .. (share < 1 and "/class.lua" or "")}
    dofile(script)
end

local program, part, left = assert(programs[arg[1]], "no such program"), arg[3], {}
os.exit = function() error(left) end
local function run()
    local began = used()
    local is_good, problem = pcall(program)
    assert(is_good or problem == left, problem)
    return used() - began
end
local has_recorder, qlua = pcall(require, "qlua")
local function unrecorded(f)
    if has_recorder then qlua.stop() end
    f()
    if has_recorder then qlua.start() end
end
if part == "collect" or part == "stop" then
    unrecorded(function()
        local blocks = {}
        for i = 1, 6000 do blocks[i] = ("x"):rep(100000 + i) end
        blocks = nil
        collectgarbage()
        if part == "stop" then collectgarbage("stop") end
    end)
end
local sum = run()
if part == "stopped" then
    unrecorded(run)
    sum = sum + run()
end
io.stderr:write("used ", sum, "\n")
