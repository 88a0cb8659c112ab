function onStart()
    Network.FireClient(nil, "hello")
    World.Spawn("Crab", Vector3.new(0, 0, 0))
end
