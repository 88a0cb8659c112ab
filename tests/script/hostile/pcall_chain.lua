-- expect: budget
local function f() while true do end end
pcall(pcall, pcall, pcall, pcall, f)
while true do end
