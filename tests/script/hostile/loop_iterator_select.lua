-- expect: budget
for a in select, '#', nil do end
