-- Yields out of __close: the return is begun once, however often it is continued.
local function close()
    coroutine.yield("closing")
end
local function body()
    local k <close> = setmetatable({}, {__close = close})
    local l <close> = setmetatable({}, {__close = close})
    return "value"
end
local co = coroutine.wrap(body)
assert(co() == "closing" and co() == "closing" and co() == "value")
