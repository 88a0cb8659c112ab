-- expect: budget
-- memory: 16384
local function f(...) return ... end
local t = {}
for i = 1, 500 do t[i] = i end
while true do f(f(f(f(table.unpack(t))))) end
