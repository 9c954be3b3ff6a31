-- client.lua: `qlua client.lua PORT CLIENT ROUNDS`: so many rounds of three requests, each with a trace id of its own, and checks the
-- answers; or `client.lua PORT quit`.
local socket = require("socket")
local port, client, rounds = arg[1], arg[2], tonumber(arg[3] or 0)
local sock = assert(socket.connect("127.0.0.1", port))
sock:settimeout(10)

local n_sent = 0
-- @return status, text
local function ask(method, path)
    n_sent = n_sent + 1
    local trace = ("00-%08x%024x-%016x-01"):format(tonumber(client) or 99, n_sent, n_sent)
    assert(sock:send(("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\ntraceparent: %s\r\n\r\n"):format(method, path, trace)))
    local status = assert(sock:receive("*l")):match("^HTTP/1.1 (%d+)")
    local n_bytes = assert(sock:receive("*l")):match("^Content%-Length: (%d+)")
    assert(sock:receive("*l") == "")
    local text = n_bytes == "0" and "" or assert(sock:receive(tonumber(n_bytes)))
    return tonumber(status), text
end

if client == "quit" then
    assert(ask("GET", "/quit") == 200)
else
    for i = 1, rounds do
        local status, text = ask("GET", "/orders")
        assert(status == 200 and text:find("^order 1: customer 2\n"))
        status, text = ask("GET", "/item/" .. i)
        assert(status == (i % 10 == 0 and 404 or 200) and text == (i % 10 == 0 and "no item " or "item ") .. i)
        status, text = ask("POST", "/buy")
        assert(status == 200 and text == "bought")
    end
end
sock:close()
