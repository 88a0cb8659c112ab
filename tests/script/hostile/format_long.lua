-- expect: budget
local f = ('%d'):rep(200)
local a = {}
for i = 1, 200 do a[i] = i end
while true do f:format(table.unpack(a)) end
