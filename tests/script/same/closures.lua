local fs = {}
for i = 1, 5 do local n = i fs[i] = function() n = n + i return n end end
for r = 1, 3 do for i, f in ipairs(fs) do log(i, f()) end end
