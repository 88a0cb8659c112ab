function onStrat()
    wrold = 1
    print(World.Spwan, Wolrd)
    World.Spwan("Crab")
    math.flor(1.5)
    string.fromat("%d", 1)
    pritn("x")
end
