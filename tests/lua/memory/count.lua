-- Run the file in a state of its own, and print what its allocator counted.
local bytes, objects, went_well = require("memory").run(arg[1])
assert(went_well, arg[1])
print(("counted %d %d"):format(bytes, objects))
