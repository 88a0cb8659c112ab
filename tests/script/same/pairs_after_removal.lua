local t = {}
for i = 1, 100 do t['k' .. i] = i end
for i = 1, 100, 3 do t['k' .. i] = nil end
for i = 200, 220 do t[i] = i end
local n = 0
for k, v in pairs(t) do n = n * 31 % 1000003 + v log(k) end
log(n)
