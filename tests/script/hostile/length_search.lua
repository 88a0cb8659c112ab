-- expect: budget
local t = {}
for i = 1, 3000 do t[i] = i end
for i = 2, 3000 do t[i] = nil end
while true do local n = #t end
