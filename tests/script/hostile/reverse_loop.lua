-- expect: budget
local s = ('x'):rep(100000)
while true do s:reverse() end
