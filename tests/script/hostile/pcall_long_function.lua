-- expect: budget
-- An error at the end of a long function pays for the function, and for naming the place.
local body = ('local a = 1 a = a + 1 a = a * 2 '):rep(60)
local f = load('do ' .. body .. ' end local n = nil; n.x = 1')
while true do pcall(f) end
