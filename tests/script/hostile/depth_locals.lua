-- expect: error
-- steps: 3000000
local t = {}
for i = 1, 300 do t[i] = 'local a' .. i end
assert(load(table.concat(t, '\n')))
