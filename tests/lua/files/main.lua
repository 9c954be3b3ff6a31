-- Loads used.lua and sub/part.lua; calls what its first argument names.
local used = require("used")
local part = require("sub.part")
local object = used.Class.new(1)
if arg[1] == "all" then
    used.called()
    used.never()
    used.nested()()
    object:get()
    object:set(2)
    part.one()
    handler.on_start()
else
    used.called()
end
