-- expect: budget
local t = {}
for i = 1, 3000 do t[i] = i end
while true do table.remove(t, 1) t[#t + 1] = 1 end
