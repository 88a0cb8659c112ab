-- expect: error
-- steps: 3000000
local function f() return (('x'):gsub('x', f)) end
f()
