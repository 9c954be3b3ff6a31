-- Loops, and then the nanoseconds that this thread had a processor.
dofile("loops.lua")
local file = assert(io.open("/proc/thread-self/schedstat"))
print(file:read("n"))
