-- expect: budget
local a, b = ('x'):rep(250000), ('x'):rep(250000)
local t = {[a] = 1}
while true do local v = t[b] end
