-- Code of strings: many lines, the same text again, pieces, dumped code, errors inside.
local text = [[
local n = ...
local function double(x)
    if x > 5 then return x end
    return x * 2
end
for i = 1, n do
    n = double(n)
end
return n, function() return n end
]]
for i = 1, 5 do
    local f = load(text, "=double")
    print((f(i)))
end
local other = load(text, "=other")
print((other(0)))
local pieces = {"local a = ... ", "if a then\n", "return 'yes'\n", "else return 'no'", " end"}
local at = 0
local pieced = load(function() at = at + 1 return pieces[at] end, "=pieced")
print(pieced(true), pieced(false), pieced(nil))
local env = {}
load("x = 1\ny = x and 2 or 3\nfunction z(a) if a then return 4 end return 5 end", "=env", "t", env)()
print(env.x, env.y, env.z(true))
local dumped = load(string.dump(load("local a, b = ...\nif a > b then\nreturn a\nend\nreturn b", "=max")))
print(dumped(1, 2), dumped(4, 3))
print(pcall(load("local t = ...\nreturn t.x.y", "=failing"), {}))
print(pcall(load("return 1 +\nnil", "=adding")))
local chain = load("local n = ... if n == 0 then return 'end' end return load('return ...')(n - 1)", "=chain")
print(chain(1), chain(0))
