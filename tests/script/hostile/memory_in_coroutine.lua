-- expect: memory
-- steps: 20000000
local function eat() local t = {} while true do t[#t + 1] = {} end end
while true do pcall(coroutine.wrap(eat)) end
