-- expect: budget
local t = {}
for i = 1, 90 do t = setmetatable({}, {__newindex = t}) end
while true do t.x = nil end
