-- expect: memory|error
-- steps: 20000000
local t = {}
for i = 1, 5000 do t[i] = ('x'):rep(300) end
table.concat(t)
