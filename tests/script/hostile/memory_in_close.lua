-- expect: memory
-- steps: 20000000
local t = {}
local c <close> = setmetatable({}, {__close = function() while true do t[#t + 1] = {} end end})
for i = 1, 1e9 do t[#t + 1] = {} end
