-- expect: budget
local t = setmetatable({}, {__len = function() return 1 << 60 end})
table.insert(t, 1, 'x')
