-- expect: budget
local f = ('i16'):rep(1000)
while true do pcall(string.pack, f, 1) string.packsize(f) end
