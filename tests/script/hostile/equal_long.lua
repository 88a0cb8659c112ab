-- expect: budget
local a, b = ('x'):rep(250000), ('x'):rep(250000)
while true do local c = a == b end
