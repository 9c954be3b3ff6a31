-- Ask the server at a port of this machine once.
local socket = require("socket")
local connection = assert(socket.connect("127.0.0.1", tonumber(arg[1])))
assert(connection:receive() == "hello")
