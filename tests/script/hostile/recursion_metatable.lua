-- expect: error|budget
-- steps: 3000000
-- memory: 8192
local t = setmetatable({}, {})
getmetatable(t).__index = function(s, k) return s[k .. 'x'] end
local v = t.a
