-- expect: memory|error
-- steps: 20000000
-- memory: 512
local function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, ...) end
f()
