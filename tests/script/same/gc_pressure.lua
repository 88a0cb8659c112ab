local keep = {}
for i = 1, 3000 do local t = {i, tostring(i), function() return i end} if i % 100 == 0 then keep[#keep + 1] = t end end
for i, t in ipairs(keep) do log(t[1], t[2], t[3]()) end
