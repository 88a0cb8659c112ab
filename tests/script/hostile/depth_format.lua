-- expect: error
-- steps: 3000000
-- memory: 8192
local t = {}
setmetatable(t, {__tostring = function() return string.format('%s', t) end})
string.format('%s', t)
