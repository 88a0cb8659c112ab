-- expect: budget
local t = {}
for i = 0, 60 do t[1 << i] = 1 end
while true do local n = #t end
