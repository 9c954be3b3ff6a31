-- A server that waits for its clients nearly all the time: server.lua PORT-FILE REQUESTS.
local socket = require("socket")
local server = assert(socket.bind("127.0.0.1", 0))
local ready <close> = assert(io.open(arg[1], "w"))
ready:write(select(2, server:getsockname()), "\n")
ready:flush()
local function answer(client)
    client:send("hello\n")
    client:close()
end
for _ = 1, tonumber(arg[2]) do answer(server:accept()) end
