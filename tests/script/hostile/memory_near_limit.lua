-- expect: budget|memory
-- steps: 3000000
-- A script that lives just below the limit must not collect for free.
local t = {}
for i = 1, 5600 do t[i] = {i} end
while true do local u = {1, 2, 3} end
