-- expect: ok
local ok = pcall(function() string[next(string)] = 1 end)
assert(not ok)
assert(not pcall(table.insert, math, 1) and not pcall(table.move, {1}, 1, 1, 1, math))
assert(not pcall(rawset, _G.string, 'x', 1))
