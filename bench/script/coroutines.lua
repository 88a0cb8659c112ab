local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local sum = 0
for round = 1, 20 do for v in gen(2000) do sum = sum + v end end
