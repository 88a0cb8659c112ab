-- expect: error|budget
-- steps: 3000000
-- memory: 8192
local function f(n) assert(pcall(f, n + 1)) end
f(1)
