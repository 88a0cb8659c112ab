local t = {}
for i = 1, 20 do t[i] = i end
log(#t) t[20] = nil log(#t) t[10] = nil log(#t) t[21] = 1 log(#t) t[1] = nil log(#t)
local u = {1, 2, nil, 4} log(#u) u[5] = 5 log(#u) local v = {n = 1, [1] = 1, [2] = 2, [4] = 4} log(#v)
