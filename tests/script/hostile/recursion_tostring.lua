-- expect: error
-- steps: 3000000
-- memory: 8192
local t = setmetatable({}, {__tostring = function(s) return tostring(s) end})
tostring(t)
