-- expect: budget
local t = {}
while true do table.insert(t, 1, 'x') end
