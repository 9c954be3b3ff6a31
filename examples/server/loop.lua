-- loop.lua: coroutines that wait for sockets, for a time, or for a lock: the event loop of server.lua.
local is_recorded, qlua = pcall(require, "qlua")
local socket = require("socket")
local M = {}

local ready = {}   -- coroutines that run in this turn
local readers = {} -- by socket: the coroutine that waits for it
local sleepers = {} -- { at, coroutine }

function M.start(f, ...)
    local arguments = table.pack(...)
    ready[#ready + 1] = coroutine.create(function() return f(table.unpack(arguments, 1, arguments.n)) end)
end

function M.wait_readable(sock)
    readers[sock] = coroutine.running()
    coroutine.yield()
end

function M.sleep(seconds)
    sleepers[#sleepers + 1] = { at = socket.gettime() + seconds, thread = coroutine.running() }
    coroutine.yield()
end

-- A lock of coroutines: it goes to the one that has waited longest.
local Lock = {}
Lock.__index = Lock
M.Lock = Lock

function Lock.new(name) return setmetatable({ name = name, is_held = false, waiting = {} }, Lock) end

-- Records waits, and what holds the lock: the function that called this one.
function Lock:acquire()
    local path = is_recorded and qlua.path(2)
    if self.is_held then
        local begun, holder = is_recorded and qlua.wait_begin(), self.holder
        self.waiting[#self.waiting + 1] = coroutine.running()
        coroutine.yield()
        if is_recorded then qlua.wait_end(begun, self.name, path, holder) end
    end
    self.is_held, self.holder = true, path
end

function Lock:release()
    local next_one = table.remove(self.waiting, 1)
    if next_one then ready[#ready + 1] = next_one else self.is_held = false end
end

local function run_ready()
    local now = ready
    ready = {}
    for _, thread in ipairs(now) do
        local is_good, message = coroutine.resume(thread)
        if not is_good then io.stderr:write(debug.traceback(thread, message), "\n") end
    end
end

local function wake_sleepers()
    local now, nearest = socket.gettime(), nil
    for i = #sleepers, 1, -1 do
        local s = sleepers[i]
        if s.at <= now then
            ready[#ready + 1] = s.thread
            table.remove(sleepers, i)
        elseif not nearest or s.at < nearest then
            nearest = s.at
        end
    end
    return nearest and nearest - now
end

-- Run until is_over(), or until nothing has happened for some seconds.
function M.run(is_over, patience)
    local deadline = socket.gettime() + patience
    while not is_over() and socket.gettime() < deadline do
        local wait = wake_sleepers()
        local list = {}
        for sock in pairs(readers) do list[#list + 1] = sock end
        local readable = socket.select(list, nil, #ready > 0 and 0 or wait or 1)
        for _, sock in ipairs(readable) do
            ready[#ready + 1], readers[sock] = readers[sock], nil
        end
        if #ready > 0 then deadline = socket.gettime() + patience end
        run_ready()
    end
end

return M
