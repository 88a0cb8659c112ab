-- expect: budget
-- memory: 16384
-- A chain as long as one call can make it, and then a table that grows and shrinks around it.
local t = {}
for i = 1, 1 << 15 do t[i * 0xffffffff] = 1 end
while true do
    for i = 1, 1 << 12 do t["x" .. i] = 1 end
    for i = 1, 1 << 12 do t["x" .. i] = nil end
end
