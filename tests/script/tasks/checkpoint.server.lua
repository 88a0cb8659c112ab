-- Obby checkpoints: who dies begins again at the last one that was touched.
local stages = {}
for i = 1, 3 do
    local pad = World.Spawn("Crate", Vector3.new(-10 + 4 * i, 0.5, 10))
    pad:SetAttribute("stage", i)
    pad.Touched:Connect(function(other)
        local player = other.Player
        if player and i > (player.leaderstats.Stage or 0) then
            player.leaderstats.Stage = i
            player:SetSpawn(pad.Position + Vector3.new(0, 1, 0))
        end
    end)
    stages[i] = pad
end

function onStart()
    local player = Players.GetPlayers()[1]
    for _, i in ipairs({1, 2, 1}) do
        player.Character:SetPosition(stages[i].Position + Vector3.new(0, 0.6, 0))
        task.wait(0.4)
    end
    assert(player.leaderstats.Stage == 2, player.leaderstats.Stage)
    player:Kill()
    task.wait(0.1)
    player:Spawn()
    local away = player.Character.Position - stages[2].Position
    assert(away.Magnitude < 1.5, away)
    print("done")
end
