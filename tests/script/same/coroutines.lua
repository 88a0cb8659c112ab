local function gen(n) for i = 1, n do coroutine.yield(i, i * i) end return 'end' end
local c = coroutine.create(gen)
for i = 1, 5 do log(coroutine.resume(c, 3)) log(coroutine.status(c)) end
local w = coroutine.wrap(function() error('inside') end)
log(pcall(w)) log(coroutine.isyieldable(), select(2, coroutine.running()))
