local t, seed = {}, 42
for i = 1, 40000 do seed = (seed * 1103515245 + 12345) % 2147483648 t[i] = seed end
table.sort(t)
table.sort(t, function(a, b) return a > b end)
for i = 1, 20 do table.insert(t, 1, i) end
for i = 1, 20 do table.remove(t, 1) end
