local M = {}
function M.one()
    return 1
end
return M
