-- expect: error
-- steps: 3000000
local args = {}
for i = 1, 250 do args[i] = pcall end
assert(pcall(table.unpack(args)) == false)
local t = setmetatable({}, {__index = function(t, k) return t[k] end})
local v = t.x
