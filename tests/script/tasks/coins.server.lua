-- Coins to collect, which come back after a while.
-- ticks: 200
local RESPAWN = 1

local function place(position)
    local coin = World.Spawn("Coin", position)
    coin.TriggerEntered:Connect(function(other)
        local player = other.Player
        if player and coin:IsValid() then
            local value = coin:GetAttribute("value")
            coin:Destroy()
            player.leaderstats.Coins = (player.leaderstats.Coins or 0) + value
            task.delay(RESPAWN, place, position)
        end
    end)
end

for i = 1, 3 do
    place(Vector3.new(4 * i, 1, -6))
end

function onStart()
    local player = Players.GetPlayers()[1]
    assert(#World.GetTagged("coin") == 3)
    for i = 1, 2 do
        player.Character:SetPosition(Vector3.new(4 * i, 0, -6))
        task.wait(0.2)
    end
    player.Character:SetPosition(Vector3.zero)
    task.wait(0.2)
    assert(player.leaderstats.Coins == 2, player.leaderstats.Coins)
    assert(#World.GetTagged("coin") == 1)
    task.wait(1.2)
    assert(#World.GetTagged("coin") == 3)
    print("done")
end
