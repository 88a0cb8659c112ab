-- expect: budget
local set = '[' .. ('%a'):rep(20000) .. ']'
local s = ('0'):rep(50000)
while true do s:find(set .. '*x') end
