-- expect: budget
local s = ('\u{7ff}'):rep(50000)
while true do utf8.len(s) end
