-- expect: budget
-- memory: 16384
-- The length is searched by powers of two, which have few remainders: each is a long chain.
local t = {}
for i = 0, 62 do t[1 << i] = 1 end
t[math.maxinteger - 1] = nil
for k = 0, 15 do
    for i = 1, 1 << 11 do t[(i + 64) * 0xffff0000ffff + (1 << k)] = 1 end
end
while true do local v = #t end
