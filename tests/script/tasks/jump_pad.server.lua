-- A trampoline, and a count of how often it was used.
-- ticks: 150
local pad = World.Find("Platform")
pad:SetBounce(14)
local used, highest = 0, 0

Players.PlayerAdded:Connect(function(player)
    player.Spawned:Connect(function(body)
        body.Landed:Connect(function(speed)
            used = used + (speed > 5 and 1 or 0)
        end)
    end)
end)

function onUpdate()
    local body = Players.GetPlayers()[1].Character
    highest = math.max(highest, body.Position.Y)
end

function onStart()
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(pad.Position + Vector3.new(0, 1, 0))
    task.wait(2)
    assert(highest > 3, highest)
    print("done")
end
