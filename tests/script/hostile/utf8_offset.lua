-- expect: budget
local s = 'a' .. ('\x80'):rep(100000) .. 'b'
while true do utf8.offset(s, 2) utf8.offset(s, -2) utf8.offset(s, 0, 50000) end
