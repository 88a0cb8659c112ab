-- expect: budget
-- memory: 16384
local s = ('x'):rep(10000)
while true do s:byte(1, -1) end
