-- debug.gethook and the error texts are what they are without a recorder.
assert(debug.gethook() == nil)
local function inner() error("message") end
local function outer() inner() return 1 end
print(select(2, xpcall(outer, debug.traceback)))
print(_VERSION, debug.getinfo(1, "S").source)
