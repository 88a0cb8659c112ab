-- expect: budget
local s = 'a' .. ('\x80'):rep(100000)
while true do pcall(function() for p in utf8.codes(s, true) do end end) end
