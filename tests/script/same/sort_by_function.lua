local t = {}
for i = 1, 60 do t[i] = {i % 7, i} end
table.sort(t, function(a, b) return a[1] < b[1] end)
for i, v in ipairs(t) do log(v[1], v[2]) end
