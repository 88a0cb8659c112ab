-- expect: budget
local t = {}
local a = ('x'):rep(250000)
while true do t[a .. 'y'] = 1 end
