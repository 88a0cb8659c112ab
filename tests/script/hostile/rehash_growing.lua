-- expect: budget
while true do local t = {} for i = 1, 100 do t['k' .. i] = i end end
