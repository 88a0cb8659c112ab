-- expect: budget|error
-- memory: 16384
local function f(n) if n > 0 then return 1, f(n - 1) end end
while true do pcall(f, 150) end
