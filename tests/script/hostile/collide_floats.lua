-- expect: budget
-- memory: 16384
local t = {}
for i = 1, 1000 do t[2.0 ^ -i * 1.5] = i end
while true do for i = 1, 1000 do local v = t[2.0 ^ -i * 1.5] end end
