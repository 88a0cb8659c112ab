-- expect: error|budget
-- steps: 5000000
-- memory: 16384
local function f(n) return 1 + f(n + 1) end
f(1)
