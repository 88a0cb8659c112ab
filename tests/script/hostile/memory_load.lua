-- expect: memory|budget
-- steps: 20000000
local parts = {}
for i = 1, 12000 do parts[i] = 'function()end' end
local t = {}
while true do t[#t + 1] = load('return {' .. table.concat(parts, ',') .. '}') end
