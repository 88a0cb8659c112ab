-- expect: budget
local s = ('9'):rep(100000)
while true do tonumber(s) end
