-- Lava: whoever touches the part dies, and comes back.
-- on: Zone
function OnTouch(self, other)
    if other.Player then
        other.Player:Kill()
    end
end

function onStart(self)
    if Players.LocalPlayer then
        return
    end
    local player = Players.GetPlayers()[1]
    local deaths = 0
    player.Died:Connect(function()
        deaths = deaths + 1
    end)
    player.Character:SetPosition(self.Position)
    task.wait(0.5)
    assert(deaths == 1 and player.Character.Health == 0, deaths)
    player:Spawn()
    task.wait(0.5)
    assert(deaths == 1 and player.Character.Health == 100)
    print("done")
end
