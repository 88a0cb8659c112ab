-- expect: budget
local s = (' '):rep(100000) .. '1'
while true do tonumber(s) math.abs(s) local x = s + 1 end
