-- expect: error
local t = setmetatable({}, {__len = function() return 1 << 60 end})
table.unpack(t)
