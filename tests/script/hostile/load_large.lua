-- expect: budget
local s = ('x = 1 '):rep(40000)
while true do load(s) end
