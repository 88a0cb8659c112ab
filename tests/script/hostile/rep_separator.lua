-- expect: budget
while true do (''):rep(10000, 'abc') end
