local t = {}
for i = 1, 30 do t[function() return i end] = i end
for f, v in pairs(t) do log(f(), v) end
