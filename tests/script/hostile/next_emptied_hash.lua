-- expect: budget
local t = {}
for i = 1, 2000 do t[i * 1.5] = i end
for i = 1, 2000 do t[i * 1.5] = nil end
while true do next(t) end
