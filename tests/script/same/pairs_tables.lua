local t, name = {}, {}
for i = 1, 40 do local k = {i} t[k] = i name[k] = 'k' .. i end
for k, v in pairs(t) do log(name[k], v) end
