-- expect: budget
local x = 1.7e308
while true do local y = x % 3.0 y = x % 5e-324 y = math.fmod(x, 3.0) end
