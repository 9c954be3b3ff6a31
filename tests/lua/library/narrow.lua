local function inside(n)
    for _ = 1, n do
        n = n - 1
    end
end
local function outside(n)
    for _ = 1, n do
        n = n - 1
    end
end
inside(2)
outside(3)
assert(os.execute("unset QPROF; qprof config apply $PPID narrow.conf >/dev/null"))
inside(4)
outside(5)
inside(6)
