-- expect: budget|error
local function f(n) local ok, e = pcall(error, 'x' .. n) return f(n + 1) end
f(1)
