-- expect: budget
while true do ('x'):rep(100000) end
