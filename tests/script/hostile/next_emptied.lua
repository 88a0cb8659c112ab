-- expect: budget
local t = {}
for i = 1, 4000 do t[i] = i end
for i = 1, 4000 do t[i] = nil end
while true do next(t) end
