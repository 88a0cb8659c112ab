-- expect: budget
for i = 1, 1e9 do for j = 1, 1e9 do for k = 1, 1e9 do end end end
