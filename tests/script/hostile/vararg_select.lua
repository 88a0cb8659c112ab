-- expect: budget
-- memory: 16384
local function count(...) local n = 0 for i = 1, select('#', ...) do n = n + select(i, ...) end end
while true do pcall(count, ('x'):rep(20000):byte(1, -1)) end
