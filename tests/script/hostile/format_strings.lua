-- expect: budget
local s = ('x'):rep(50000)
while true do string.format('%s%s', s, s) end
