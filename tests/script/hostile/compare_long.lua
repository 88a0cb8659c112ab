-- expect: budget
local a = ('x'):rep(250000)
local b = a .. 'y'
while true do local c = a < b end
