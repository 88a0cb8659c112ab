-- side: client
-- What belongs to the server raises on a client and says so; writes are ignored.
local function raises(f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and err:find("works on the server only; this script runs on a client", 1, true), err)
end
raises(DataStore.GetDataStore, "x")
raises(Network.Broadcast, "x")
raises(Network.OnClientEvent, "x", print)
raises(Npc.Spawn, Vector3.zero)
raises(KillPlayer)
function onStart()
    local door = World.Find("Door")
    local before = door.Position
    door.Position = Vector3.new(0, 99, 0)
    door:SetAttribute("x", 1)
    assert(door.Position == before and door:GetAttribute("x") == nil, "ignored")
    assert(World.Spawn("Crate") == nil)
    local mine = World.SpawnLocal("Crate", Vector3.new(0, 9, 0))
    mine.Position = Vector3.new(1, 9, 0)
    assert(mine.Position == Vector3.new(1, 9, 0), "what is local may change")
    mine:Destroy()
    assert(Players.LocalPlayer and Players.LocalPlayer.Name)
    raises(Players.LocalPlayer.Spawn, Players.LocalPlayer)
    raises(Players.LocalPlayer.Spawn, Players.LocalPlayer, Vector3.zero)
    assert(camera.Forward.Magnitude > 0.99 and camera.Position)
    assert(Input.IsKeyPressed("W") == false and input.isKeyDown("W") == false)
    print("done")
end
