local function counter() local n = 0 return function(k) n = n + k return n end end
local sum = 0
for i = 1, 60000 do local c = counter() c(1) c(2) sum = sum + c(3) end
local function map(t, f) local r = {} for i = 1, #t do r[i] = f(t[i]) end return r end
local t = {}
for i = 1, 1000 do t[i] = i end
for i = 1, 100 do t = map(t, function(x) return x + i end) end
