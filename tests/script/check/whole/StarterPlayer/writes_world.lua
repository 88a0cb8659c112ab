local e = World.Find("Door")
World.Spawn("Crab", Vector3.new(0, 1, 0))
return e
