-- expect: budget
local a = setmetatable({}, {__concat = function(x) return x end})
while true do local b = a .. a .. a .. a end
