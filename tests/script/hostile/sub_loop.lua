-- expect: budget
local s = ('x'):rep(200000)
while true do s:sub(2) end
