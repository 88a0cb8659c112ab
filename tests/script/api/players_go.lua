-- side: server
-- ticks: 120
-- SetSpawn and Kick.
local function raises(part, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(part, 1, true), err)
end

function onStart()
    local player = Players.GetPlayers()[1]
    player:SetSpawn(Vector3.new(10, 0, 10))
    player:Spawn()
    assert(player.Character.Position == Vector3.new(10, 0, 10))
    player:Spawn(Vector3.new(0, 0, 3))
    assert(player.Character.Position == Vector3.new(0, 0, 3), "a given place comes first")
    player:SetSpawn()
    player:Spawn()
    assert(player.Character.Position == Vector3.zero)
    player:SetSpawn(World.Find("Platform"))
    player:Spawn()
    local at = player.Character.Position
    assert(at.X == 8 and at.Z == 0 and at.Y >= 0.5, "on the platform, not in it")
    raises("at", player.SetSpawn, player, "Platform")
    raises("Player:SetSpawn", player.SetSpawn, player, Vector3.new(1e9, 0, 0))
    local crate = World.Spawn("Crate", Vector3.new(3, 5, 3))
    crate:Destroy()
    task.wait(0.1)
    raises("gone", player.SetSpawn, player, crate)

    raises("reason", player.Kick, player, 5)
    local gone
    Players.PlayerRemoving:Connect(function(who) gone = who end)
    player:Kick(("x"):rep(100000))
    assert(player.Character ~= nil, "until the end of the tick")
    task.wait(0.2)
    assert(gone == player and #Players.GetPlayers() == 0 and Players.GetPlayerById(player.UserId) == nil)
    raises("left", player.Kick, player, "again")
    assert(not pcall(player.SetSpawn, player))
    print("done")
end
