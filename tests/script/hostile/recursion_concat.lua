-- expect: error
-- steps: 3000000
-- memory: 8192
local t = setmetatable({}, {__concat = function(a, b) return a .. b end})
local v = t .. 1
