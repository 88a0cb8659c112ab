-- expect: budget|error
-- steps: 3000000
-- memory: 8192
local function f() return coroutine.wrap(f)() end
f()
