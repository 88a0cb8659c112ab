-- expect: memory
-- steps: 20000000
local list
while true do list = {list} end
