-- A fireball that bursts where it hits, and pays whoever shot it.
-- ticks: 150
Network.On("Fireball", function(player, direction)
    local ball = World.Spawn("Bullet")
    ball.Velocity = direction.Unit * 20
    ball.Hit:Connect(function(other, position, normal, shooter)
        if other == nil then
            World.FillSphere(position, 1.5, 0)
        elseif other.Type == "Npc" and shooter and shooter.Player then
            local stats = shooter.Player.leaderstats
            stats.Hits = (stats.Hits or 0) + 1
        end
    end)
end)

function onStart()
    local target = Npc.Spawn(Vector3.new(0, 0, -8))
    local player = Players.GetPlayers()[1]
    task.wait(2)
    assert(target.Health == 80, target.Health)
    assert(player.leaderstats.Hits == 1)
    assert(World.GetVoxel(Vector3.new(0, -1, 4)) == 0, "the one into the ground")
    print("done")
end
