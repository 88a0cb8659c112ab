local t = {}
for i = 1, 10 do t[i] = i t[i * 1.5] = i t['s' .. i] = i t[{}] = i t[i % 2 == 0] = i t[-i] = i end
for k, v in pairs(t) do log(type(k), type(k) == 'table' and '' or k, v) end
