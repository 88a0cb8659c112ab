-- expect: error
-- steps: 3000000
local function f() local c <close> = setmetatable({}, {__close = f}) end
f()
