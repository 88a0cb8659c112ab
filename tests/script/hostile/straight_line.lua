-- expect: budget
-- A body of thousands of instructions must cost thousands of steps.
local body = ('local a = 1 a = a + 1 a = a * 2 '):rep(60)
local f = load('local n = 0 while true do do ' .. body .. ' end n = n + 1 end')
f()
