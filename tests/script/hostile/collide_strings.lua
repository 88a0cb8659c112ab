-- expect: budget
-- memory: 16384
-- Many strings of which few differ where the hash looks last.
local t = {}
for i = 1, 1e6 do t[('%08d'):format(i) .. ('a'):rep(30)] = i end
