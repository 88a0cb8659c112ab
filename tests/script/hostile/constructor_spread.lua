-- expect: budget
-- memory: 16384
local t = {}
for i = 1, 1000 do t[i] = i end
while true do local u = {table.unpack(t)} end
