-- Coins and kills on the board, and a coin for every second of play.
-- at 20: join 2 bo
-- ticks: 200
local function join(player)
    player.leaderstats.Coins = 0
    player.leaderstats.Kills = 0
    player.Died:Connect(function(cause)
        local killer = cause and cause.Player
        if killer then
            killer.leaderstats.Kills = killer.leaderstats.Kills + 1
        end
    end)
end

Players.PlayerAdded:Connect(join)
for _, player in ipairs(Players.GetPlayers()) do
    join(player)
end

Timer.Every(1, function()
    for _, player in ipairs(Players.GetPlayers()) do
        player.leaderstats.Coins = player.leaderstats.Coins + 1
    end
end)

function onStart()
    task.wait(2.1)
    local ada, bo = table.unpack(Players.GetPlayers())
    bo.Character:TakeDamage(1000, ada.Character)
    task.wait(0.1)
    assert(ada.leaderstats.Kills == 1 and bo.leaderstats.Kills == 0)
    assert(ada.leaderstats.Coins == 2, ada.leaderstats.Coins)
    print("done")
end
