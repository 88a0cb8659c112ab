-- expect: error
-- steps: 3000000
local mt = {}
mt.__tostring = function() return tostring(setmetatable({}, mt)) end
tostring(setmetatable({}, mt))
