-- expect: budget
for k in next, {1}, nil do end
for a in function() return 1 end do end
