-- expect: budget
-- Work done before a yield is paid although the coroutine is dropped.
local body = ('local a = 1 a = a + 1 a = a * 2 '):rep(60)
local f = load('local yield = ... do ' .. body .. ' end yield()')
while true do coroutine.wrap(f)(coroutine.yield) end
