-- expect: error|budget
-- steps: 2000000
-- memory: 8192
local s = 'x'
while true do s = s .. s end
