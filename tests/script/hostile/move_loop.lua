-- expect: budget
local t = {}
for i = 1, 2000 do t[i] = i end
while true do table.move(t, 1, 2000, 2, {}) end
