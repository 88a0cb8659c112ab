-- expect: budget
while true do string.pack('c100000', 'x') end
