for i = 1, 3 do for j = 1, 3 do if j == 2 then goto continue end log(i, j) ::continue:: end end
local n = 0
while true do n = n + 1 if n > 5 then break end end
repeat local m = n n = n - 1 until m < 3
log(n) for i = 10, 1, -3 do log(i) end for i = 1.0, 2.0, 0.25 do log(i) end for i = math.maxinteger - 1, math.maxinteger do log(i) end
