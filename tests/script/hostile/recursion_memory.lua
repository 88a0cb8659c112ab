-- expect: memory
-- steps: 20000000
-- memory: 2048
local function f(n) return 1 + f(n + 1) end
f(1)
