-- expect: budget
local s = ('a'):rep(200000)
local p = ('a'):rep(100000) .. 'b'
while true do s:find(p, 1, true) end
