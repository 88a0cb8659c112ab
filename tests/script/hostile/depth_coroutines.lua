-- expect: error
-- steps: 3000000
-- memory: 8192
local function f(n) return assert(coroutine.resume(coroutine.create(f), n + 1)) end
f(1)
