-- expect: budget
local x = 1e300
while true do math.sin(x) math.cos(x) math.tan(x) math.atan(x, 2) math.exp(1.5) math.log(x, 3) end
