for i = -20, 20 do local x = i * 0.37 log(math.sin(x), math.cos(x), math.tan(x)) end
for _, x in ipairs {1e5, 1e10, 1e22, 1e300, -1e15, 1e-300} do log(math.sin(x), math.cos(x), math.tan(x)) end
