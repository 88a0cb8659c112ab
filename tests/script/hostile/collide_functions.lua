-- expect: budget
local t = {}
for k, v in pairs(_G) do t[v] = k end
for k, v in pairs(string) do t[v] = k end
for k, v in pairs(math) do t[v] = k end
while true do local x = t[math.ult] x = t[string.rep] x = t[1.5] end
