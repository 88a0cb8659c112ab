-- expect: error
-- steps: 3000000
local function f() return load(f) end
assert(f())
local function g() assert(load(g)) end
g()
