for _, x in ipairs {0.5, 1.5, 2.5, -0.5, -1.5, 1e15 + 0.5, 1e300, -1e300} do log(math.floor(x), math.ceil(x), math.modf(x)) end
