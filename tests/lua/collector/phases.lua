-- Each phase makes the collector work a known number of times. Nothing is collected in between.
collectgarbage("stop")
collectgarbage("incremental")

local function clean() end
local function release() clean() end
local function broken() clean() error("broken") end
local function yields() coroutine.yield() clean() end
local function collect() collectgarbage() end
local function step() collectgarbage("step") end
local function switch(mode) collectgarbage(mode) end

local function drop(finalizer)
    setmetatable({}, {__gc = finalizer})
end

drop(release)
drop(broken) -- errors are unwound to the collector, which calls the next one
drop(yields)
drop(release)
collect()
collect()
step()
switch("generational")
step()
switch("incremental")
coroutine.wrap(function()
    drop(release)
    collect()
    drop(broken)
    pcall(collect)
end)()
drop(release) -- when the state is closed
