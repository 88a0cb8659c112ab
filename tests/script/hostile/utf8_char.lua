-- expect: budget
while true do utf8.char(1, 2, 3, 0x7fffffff) end
