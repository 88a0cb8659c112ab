-- expect: budget
local function f(n) if n > 0 then f(n - 1) f(n - 1) end end
f(60)
