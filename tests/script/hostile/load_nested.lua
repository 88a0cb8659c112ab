-- expect: budget|error
local function f(n) return load('return ...')(load, f(n + 1)) end
f(1)
