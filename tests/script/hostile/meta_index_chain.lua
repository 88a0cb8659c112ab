-- expect: budget
local t = {}
for i = 1, 90 do t = setmetatable({}, {__index = t}) end
while true do local v = t.absent end
