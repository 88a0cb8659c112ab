-- expect: budget
local s = ('a'):rep(20000)
while true do for w in s:gmatch('a-b') do end end
