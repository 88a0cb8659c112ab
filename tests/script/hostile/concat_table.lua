-- expect: budget
local t = {}
for i = 1, 1000 do t[i] = 'abc' end
while true do table.concat(t, ',') end
