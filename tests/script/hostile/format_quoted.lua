-- expect: budget
local s = ('\0'):rep(20000)
while true do string.format('%q', s) end
