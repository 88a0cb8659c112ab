-- expect: budget
local tbc = setmetatable({}, {__close = function() while true do end end})
for i in function() return 1 end, nil, nil, tbc do end
