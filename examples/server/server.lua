-- server.lua: a small HTTP server on the loopback interface: `qlua server.lua VERSION`. It prints its port, and ends when a
-- client asks for /quit, or after 20 s without one.
package.path = (arg[0]:match("^(.*/)") or "./") .. "?.lua;" .. package.path
local socket = require("socket")
local loop = require("loop")
local shop = require("shop")

-- Without the recorder a request is a call.
local has_qlua, qlua = pcall(require, "qlua")
local request = has_qlua and qlua.request or function(_, _, f, ...) return f(...) end

local VERSION, PATIENCE = arg[1] or "1.0", 20
local is_over = false

-- A line, without blocking others. @return nil: the connection is closed
local function read_line(sock)
    local part = ""
    while true do
        local line, message, more = sock:receive("*l", part)
        if line then return line end
        if message ~= "timeout" then return nil end
        part = more
        loop.wait_readable(sock)
    end
end

-- @return method, path, headers; nil: there is none any more
local function read_request(sock)
    local first = read_line(sock)
    local method, path = (first or ""):match("^(%u+) (%S+) HTTP/")
    if not method then return nil end
    local headers = {}
    for line in read_line, sock do
        if line == "" then return method, path, headers end
        local name, value = line:match("^([%w-]+):%s*(.*)$")
        if name then headers[name:lower()] = value end
    end
end

local function answer(sock, status, text)
    sock:send(("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s"):format(status, #text, text))
end

local function serve(sock)
    sock:settimeout(0)
    for method, path, headers in read_request, sock do
        if path == "/quit" then
            is_over = true
            answer(sock, "200 OK", "")
            break
        end
        local name, handler, id = shop.route(method, path)
        local is_good, text = pcall(request, name, headers.traceparent, handler, VERSION, id)
        answer(sock, is_good and "200 OK" or "404 Not Found", tostring(text))
    end
    sock:close()
end

local function accept(listener)
    listener:settimeout(0)
    while true do
        loop.wait_readable(listener)
        local sock = listener:accept()
        if sock then loop.start(serve, sock) end
    end
end

local listener = assert(socket.bind("127.0.0.1", 0))
print((select(2, listener:getsockname())))
io.stdout:flush()
loop.start(accept, listener)
loop.run(function() return is_over end, PATIENCE)
listener:close()
