-- random.lua SEED PROGRAM RULES EXPECTED: writes a random program, random rules, and what a recording
-- of the one under the other has: calls of functions, executions of lines. It executes the program
-- itself, statement by statement, and follows the rules as their specification says them.
local seed, program_file, rules_file, expected_file = table.unpack(arg)
math.randomseed(tonumber(seed))
local random = math.random

local N = 7 -- functions f0 to f7, which call later ones
local CALLS_MAX = 3000

local function chance(percent) return random(100) <= percent end

local function some(percent)
    local set = {}
    for i = 0, N do if chance(percent) then set[i] = true end end
    return next(set) and set or {[random(0, N)] = true}
end

-- ---- the program ------------------------------------------------------------------------------

local function statement(i, depth)
    local callee, kind = random(i + 1, math.min(i + 3, N + 1)), random(100)
    if kind <= 10 then return {kind = "switch", on = chance(60)} end
    if kind <= 18 then return {kind = "yield"} end
    if callee > N then return {kind = "rest"} end
    if kind <= 35 and depth == 0 then
        local body = {}
        for n = 1, random(1, 2) do body[n] = statement(i, 1) end
        return {kind = "loop", rounds = random(0, 3), body = body}
    end
    if kind <= 50 then return {kind = "try", callee = callee} end
    if kind <= 62 then return {kind = "spawn", callee = callee, resumes = random(0, 3)} end
    return {kind = "call", callee = callee}
end

local function make_program()
    local functions = {}
    for i = 0, N do
        local body = {}
        for n = 1, random(2, 5) do body[n] = statement(i, 0) end
        if i > 0 and chance(20) then body[#body + 1] = {kind = "fail"} end
        functions[i] = body
    end
    return functions
end

local text = {}
local function emit(line)
    text[#text + 1] = line
    return #text
end

local function emit_statement(s)
    if s.kind == "switch" then s.line = emit(s.on and "qlua.start()" or "qlua.stop()")
    elseif s.kind == "yield" then s.line = emit("if coroutine.isyieldable() then coroutine.yield() end")
    elseif s.kind == "rest" then s.line = emit("resting = not resting")
    elseif s.kind == "call" then s.line = emit("f" .. s.callee .. "()")
    elseif s.kind == "try" then s.line = emit("pcall(f" .. s.callee .. ")")
    elseif s.kind == "fail" then s.line = emit("error('failed', 0)")
    elseif s.kind == "loop" then
        s.line = emit("for _ = 1, " .. s.rounds .. " do")
        for _, inner in ipairs(s.body) do emit_statement(inner) end
        emit("end")
    else
        emit("do")
        s.line = emit("local thread = coroutine.create(f" .. s.callee .. ")")
        for n = 1, s.resumes do s[n] = emit("coroutine.resume(thread)") end
        emit("end")
    end
end

local function write_program(functions)
    emit('local qlua = require("qlua")')
    emit('collectgarbage("stop")')
    for i = N, 0, -1 do
        functions[i].first = emit("local function f" .. i .. "()") + 1
        for _, s in ipairs(functions[i]) do emit_statement(s) end
        functions[i].last = emit("end") - 1
    end
    emit("pcall(f0)")
    local file = assert(io.open(program_file, "w"))
    file:write(table.concat(text, "\n"), "\n")
    file:close()
end

-- ---- the rules --------------------------------------------------------------------------------

local rules = {initial = chance(50), triggers = {}, actions = {}, areas = {}}

local function names(set)
    local list = {}
    for i = 0, N do if set[i] then list[#list + 1] = "f" .. i end end
    return table.concat(list, " ")
end

local function write_rules()
    local lines = {"initial-status " .. (rules.initial and "on" or "off")}
    for n = 1, random(0, 3) do
        local t = {on = chance(60), pass = random(0, 3), work = random(0, 2), cycling = chance(50),
            all = chance(30), set = some(25), counts = {}}
        rules.triggers[n] = t
        lines[#lines + 1] = ("trigger t%d %s pass=%d work=%d cycling=%s all-threads=%s : %s"):format(n,
            t.on and "on" or "off", t.pass, t.work, t.cycling and "yes" or "no", t.all and "yes" or "no",
            names(t.set))
    end
    for n = 1, random(0, 2) do
        local a = {on = chance(60), enter = chance(50), set = some(15)}
        rules.actions[n] = a
        lines[#lines + 1] = ("action a%d %s %s : %s"):format(n, a.on and "enable" or "disable",
            a.enter and "enter" or "exit", names(a.set))
    end
    for n = 1, random(0, 3) do
        local kind = ({"include lines", "include routines", "exclude"})[random(3)]
        local a = {kind = kind, set = some(kind == "exclude" and 20 or 60)}
        rules.areas[n] = a
        lines[#lines + 1] = ("area area%d %s : %s"):format(n, kind, names(a.set))
    end
    local file = assert(io.open(rules_file, "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
end

-- 0: not measured, 1: its calls, 2: its calls and lines
local function level_of(i)
    local level, has_including, is_excluded, is_implied = 0, false, false, false
    for _, a in ipairs(rules.areas) do
        has_including = has_including or a.kind ~= "exclude"
        if a.set[i] then
            if a.kind == "exclude" then is_excluded = true
            else level = math.max(level, a.kind == "include lines" and 2 or 1) end
        end
    end
    if not has_including then level = 2 end
    for _, list in ipairs({rules.triggers, rules.actions}) do
        for _, rule in ipairs(list) do is_implied = is_implied or rule.set[i] end
    end
    if is_excluded then level = 0 end
    return math.max(level, is_implied and 1 or 0)
end

-- ---- its execution ----------------------------------------------------------------------------

local functions, levels, threads, here, is_recording, n_calls, calls, blocks

local function new_thread()
    local is_ruled = #rules.triggers + #rules.actions > 0
    local thread = {is_on = not is_ruled or rules.initial, n_tries = 0}
    threads[#threads + 1] = thread
    return thread
end

local function acts(t)
    local key = t.all and "all" or here
    local n = (t.counts[key] or 0) + 1
    t.counts[key] = n
    if t.work == 0 then return n > t.pass end
    if t.cycling then return (n - 1) % (t.pass + t.work) >= t.pass end
    return n > t.pass and n <= t.pass + t.work
end

local function run_actions(i, at_enter)
    for _, a in ipairs(rules.actions) do
        if a.set[i] and a.enter == at_enter then
            for _, thread in ipairs(threads) do thread.is_on = a.on end
        end
    end
end

local function count(block, i)
    if is_recording and here.is_on and levels[i] == 2 then blocks[block] = (blocks[block] or 0) + 1 end
end

local call

local execute = {
    switch = function(s) is_recording = s.on end,
    yield = function() if coroutine.isyieldable() then coroutine.yield() end end,
    rest = function() end,
    call = function(s) call(s.callee) end,
    try = function(s)
        local thread = here
        thread.n_tries = thread.n_tries + 1
        pcall(call, s.callee)
        thread.n_tries = thread.n_tries - 1
    end,
    fail = function() error("failed", 0) end,
}

local function step(s, i)
    count(s.line .. " a", i)
    if s.kind == "loop" then
        for _ = 1, s.rounds do
            for _, inner in ipairs(s.body) do step(inner, i) end
            count(s.line .. " b", i)
        end
    elseif s.kind == "spawn" then
        local thread, before = coroutine.create(call), here
        local mine
        for n = 1, s.resumes do
            count(s[n] .. " a", i)
            if coroutine.status(thread) == "suspended" then
                mine = mine or new_thread()
                here = mine
                local is_fine, why = coroutine.resume(thread, s.callee)
                here = before
                if not is_fine and why == "too long" then error(why, 0) end
            end
        end
    else
        execute[s.kind](s)
    end
end

function call(i)
    n_calls = n_calls + 1
    if n_calls > CALLS_MAX then error("too long", 0) end
    local thread, saved = here, {}
    for _, t in ipairs(rules.triggers) do
        if t.set[i] and acts(t) then
            saved[#saved + 1] = thread.is_on
            thread.is_on = t.on
        end
    end
    run_actions(i, true)
    if is_recording and thread.is_on and levels[i] > 0 then calls[i] = (calls[i] or 0) + 1 end
    local is_fine, why = pcall(function() for _, s in ipairs(functions[i]) do step(s, i) end end)
    if is_fine or thread.n_tries > 0 then -- else the coroutine is dead, and its frames stay
        run_actions(i, false)
        for n = #saved, 1, -1 do thread.is_on = saved[n] end
    end
    if not is_fine then error(why, 0) end
end

local function fits()
    threads, is_recording, n_calls, calls, blocks = {}, true, 0, {}, {}
    for _, t in ipairs(rules.triggers) do t.counts = {} end
    here = new_thread()
    pcall(call, 0)
    return n_calls <= CALLS_MAX
end

write_rules()
levels = {}
for i = 0, N do levels[i] = level_of(i) end
repeat
    functions = make_program()
    text = {}
    write_program(functions)
until fits()

local file = assert(io.open(expected_file, "w"))
for i = 0, N do
    if calls[i] then file:write("call f", i, " ", calls[i], "\n") end
end
local lines = {}
for block, n in pairs(blocks) do
    local line = tonumber(block:match("^%d+"))
    lines[line] = math.max(lines[line] or 0, n)
end
for line = 1, #text do
    if lines[line] then file:write("line ", line, " ", lines[line], "\n") end
end
for i = N, 0, -1 do -- of a routine that was called, each line as often
    for line = functions[i].first, levels[i] == 1 and calls[i] and functions[i].last or 0 do
        file:write("routine ", line, " ", calls[i], "\n")
    end
end
file:close()
