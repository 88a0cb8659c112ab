-- expect: memory
-- steps: 20000000
local t = {}
for i = 1, 1e9 do
    t[i] = coroutine.wrap(function(...) coroutine.yield() return ... end)
    t[i](('x'):rep(2000):byte(1, -1))
end
