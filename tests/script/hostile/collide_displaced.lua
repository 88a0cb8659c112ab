-- expect: budget
-- memory: 16384
-- Half of the keys have the same remainder and go to the free places, the last place first. The
-- other keys belong to exactly those places, so each would move one out of the way.
local t = {}
for i = 1, 1 << 14 do t[i * 0xffffffff] = 1 end
for i = 1, 1 << 14 do t[-(i * 2 + 1) % 0x7fff + 0x7fff * 0x20000] = 1 end
while true do local v = t[0] end
