-- expect: budget
local s = ('a'):rep(20000)
while true do s:find('%f[' .. ('b'):rep(1000) .. ']x') end
