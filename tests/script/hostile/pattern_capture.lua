-- expect: budget
local s = ('a'):rep(20000)
while true do s:find('(a*)%1b') end
