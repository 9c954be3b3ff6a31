local P = {}
function P.lonely(n)
    if n then
        return 1
    end
    return 2
end
return P
