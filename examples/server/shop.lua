-- shop.lua: what the server answers: a shop with a slow table, a forgotten cache and one lock.
local loop = require("loop")
local M = {}

-- ---- the database ----------------------------------------------------------------------------
local customers = {}
for i = 1, 50 do customers[i] = { id = i, name = "customer " .. i } end

local function match(row, wanted) return row.id == wanted end

-- Without an index each query looks at all rows.
local function query(wanted)
    for _, row in ipairs(customers) do
        if match(row, wanted) then return row end
    end
end

local function query_all(wanted)
    local found = {}
    for _, row in ipairs(customers) do found[row.id] = wanted[row.id] and row or nil end
    return found
end

-- ---- GET /orders: version 1.0 asks for the customer of each order by a query of its own ------------
local ORDERS = 25

local function orders_one_by_one()
    local lines = {}
    for i = 1, ORDERS do lines[i] = "order " .. i .. ": " .. query(i * 2).name end
    return lines
end

local function orders_at_once()
    local wanted, lines = {}, {}
    for i = 1, ORDERS do wanted[i * 2] = true end
    local found = query_all(wanted)
    for i = 1, ORDERS do lines[i] = "order " .. i .. ": " .. found[i * 2].name end
    return lines
end

local function list_orders(version)
    local lines = version == "1.0" and orders_one_by_one() or orders_at_once()
    return table.concat(lines, "\n")
end

-- ---- GET /item/:id: what it remembers of each visitor is never removed: a leak ----------------------
local visits = {}

local function remember(id)
    visits[#visits + 1] = { id = id, page = string.rep("x", 2000) .. #visits }
end

local function show_item(_, id)
    remember(id)
    if id % 10 == 0 then error("no item " .. id, 0) end
    return "item " .. id
end

-- ---- POST /buy: one buys at a time, for the journal is written under a lock ---------------------
local journal = loop.Lock.new("journal")

local function write_journal() loop.sleep(0.002) end

local function buy()
    journal:acquire()
    write_journal()
    journal:release()
    return "bought"
end

-- What nothing calls any more.
function M.old_price(amount) return amount * 119 // 100 end

-- name, handler(version, id), id of a request line. The name is that of the route, not of the path.
function M.route(method, path)
    local id = path:match("^/item/(%d+)$")
    if method == "GET" and id then return "GET /item/:id", show_item, tonumber(id) end
    if method == "GET" and path == "/orders" then return "GET /orders", list_orders end
    if method == "POST" and path == "/buy" then return "POST /buy", buy end
    return "<unknown>", function() error("no such page", 0) end
end

return M
