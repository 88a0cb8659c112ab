for i = -20, 20 do local x = i * 1.7 log(math.exp(x), x ^ 2, 2 ^ x, math.abs(x) ^ 0.33) end
for _, x in ipairs {1e-300, 0.5, 1, 2, 10, 1000, 1e300} do log(math.log(x), math.log(x, 2), math.log(x, 10), math.log(x, 3), math.sqrt(x)) end
log(10 ^ 2, 10 ^ -2, 2 ^ 0.5, (-8) ^ 3, (-8) ^ (1/3), 0 ^ 0, 0 ^ -1, 10 ^ 308, 10 ^ 309)
