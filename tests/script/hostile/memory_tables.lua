-- expect: memory
-- steps: 20000000
local t = {}
while true do t[#t + 1] = {} end
