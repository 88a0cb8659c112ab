-- expect: budget
local s = ('a'):rep(5000)
s:find('.-.-.-.-.-b')
