log(1000, 1000000.5, 0xFF, 0xFFFF, 10, 240, 1e10, 12, 0, 0x1p4, .5, 3., 1e-2)
log(9223372036854775807, -10, 20 // 3)
local t = { [10] = "ten" }
log(t[10], t[10])
t[10] = t[10] .. "!" log(t[10])
for i = 10, 12 do log(i) end
log(1)
local x = 10 +
  nil
