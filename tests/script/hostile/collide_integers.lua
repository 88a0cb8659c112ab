-- expect: budget
-- memory: 16384
-- Multiples of 2^k - 1 have the same remainder.
local t = {}
for i = 1, 1 << 16 do t[i * 0xffffffff] = 1 end
while true do local v = t[0] end
