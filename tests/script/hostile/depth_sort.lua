-- expect: error
-- steps: 3000000
local function f() table.sort({1, 2, 3}, f) end
f()
