-- Who dies watches from above until the round is over; the last one alive has won.
-- at 10: join 2 bo
-- ticks: 150
local BOX = Vector3.new(0, 20, 0)
local alive = {}
local winner

local function out(player)
    alive[player] = nil
    task.wait(0.3)
    player:Spawn(BOX)
    local first = next(alive)
    if first and next(alive, first) == nil then
        winner = first
    end
end

Players.PlayerAdded:Connect(function(player)
    alive[player] = true
    player.Died:Connect(function()
        out(player)
    end)
end)

function onStart()
    World.FillBox(BOX - Vector3.new(2, 2, 2), BOX + Vector3.new(2, -1, 2), 1)
    task.wait(0.5)
    local ada, bo = table.unpack(Players.GetPlayers())
    KillPlayer(ada)
    task.wait(0.8)
    assert(winner == bo and ada.Character.Health == 100)
    assert(ada.Character.Position.Y > 18, tostring(ada.Character.Position))
    for _, player in ipairs(Players.GetPlayers()) do
        player:Spawn()
    end
    assert(ada.Character.Position.Y < 1)
    print("done")
end
