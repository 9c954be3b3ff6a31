-- The same file in several states at once, each on a thread of its own.
assert(require("states").run(tonumber(arg[1]), "shared.lua"))
