-- expect: budget
local s = ('x'):rep(50000)
while true do local t = s .. 'y' end
