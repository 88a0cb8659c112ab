-- expect: error|budget
local t = setmetatable({}, {__len = function() return 1 << 60 end})
table.concat(t)
table.sort(t)
