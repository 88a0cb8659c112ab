-- expect: budget
local function f() pcall(f) pcall(f) end
f()
