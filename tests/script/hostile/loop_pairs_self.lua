-- expect: budget
local t = {1}
while true do for k, v in pairs(t) do end end
