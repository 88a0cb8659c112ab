for i = 1, 20 do log(math.random(), math.random(100), math.random(-5, 5)) end
math.randomseed(42)
for i = 1, 10 do log(math.random(1 << 40)) end
log(math.random(0))
