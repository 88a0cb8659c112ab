-- expect: budget
local x = 1.1
while true do x = x ^ 1.0000001 end
