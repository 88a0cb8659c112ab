local t = {}
for i = 1, 20 do t[coroutine.create(function() end)] = i end
for c, v in pairs(t) do log(v, coroutine.status(c)) end
