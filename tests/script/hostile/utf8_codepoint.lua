-- expect: budget
-- memory: 16384
local s = ('a'):rep(10000)
while true do utf8.codepoint(s, 1, -1) end
