-- expect: error
local a = {}
setmetatable(a, {__index = a})
a = setmetatable({}, {__index = a})
local b = setmetatable({}, {})
getmetatable(b).__index = b
local v = b.x
