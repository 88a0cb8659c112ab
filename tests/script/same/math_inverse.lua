for i = -10, 10 do local x = i / 10 log(math.asin(x), math.acos(x), math.atan(x), math.atan(x, -2)) end
log(math.asin(2), math.atan(0, -1), math.atan(-0.0, -1), math.atan(1/0), math.atan(1, 0))
