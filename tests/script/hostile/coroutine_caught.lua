-- expect: budget
local function spin() while true do end end
while true do pcall(coroutine.wrap(spin)) end
