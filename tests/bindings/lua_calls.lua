-- lua_calls.lua OUTPUT PROGRAM [ARGUMENT...]: record a program into OUTPUT.qprof, and count in the same run, by a debug
-- hook of its own, the calls of each function: "FILE:LINE CALLS" in OUTPUT.calls.
local qprof = require("qprof")
local output, program = arg[1], arg[2]
local calls, wait = {}, {}
local getinfo, sethook, exit = debug.getinfo, debug.sethook, os.exit
local create, yield = coroutine.create, coroutine.yield
local resume, status = coroutine.resume, coroutine.status
local pack = table.pack or function(...) return {n = select("#", ...), ...} end
local unpack = table.unpack or unpack

local function count(event)
    if event ~= "call" and event ~= "tail call" then return end
    local info = getinfo(2, "S")
    if info.what == "Lua" and info.linedefined > 0 then
        local key = info.source:gsub("^@", "") .. ":" .. info.linedefined
        calls[key] = (calls[key] or 0) + 1
    end
end

-- a hook is of one coroutine
local function counted(body)
    local co = create(body)
    debug.sethook(co, count, "c")
    return co
end

local function finish()
    debug.sethook()
    qprof.stop()
    local file = assert(io.open(output .. ".calls", "w"))
    for key, n in pairs(calls) do file:write(key, " ", n, "\n") end
    file:close()
end

function os.exit(...)
    finish()
    exit(...)
end

function coroutine.create(body) return counted(body) end

function coroutine.wrap(body)
    local co = counted(body)
    return function(...)
        local results = pack(resume(co, ...))
        if not results[1] then error(results[2], 0) end
        return unpack(results, 2, results.n)
    end
end

local rest = {[0] = program}
for i = 3, #arg do rest[i - 2] = arg[i] end
arg = rest
local f = assert(loadfile(program))
qprof.start({output = output .. ".qprof", open_frames = false})
debug.sethook(count, "c")
f(unpack(arg))
finish()
