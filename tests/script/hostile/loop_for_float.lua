-- expect: budget
for i = 1.0, 2.0, 0 + 1e-300 do end
