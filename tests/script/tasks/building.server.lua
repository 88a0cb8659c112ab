-- A plot: everybody may build five pieces, each costs a coin, half comes back.
local LIMIT, PRICE = 5, 2
local built = {}

Structure.Placed:Connect(function(piece, player)
    if player then
        built[player] = (built[player] or 0) + 1
        player.leaderstats.Coins = player.leaderstats.Coins - PRICE
        piece:SetAttribute("builder", player.UserId)
        if built[player] > LIMIT then
            Structure.Remove(piece)
        end
    end
end)

Structure.Removed:Connect(function(piece, reason, position)
    local player = Players.GetPlayers()[1]
    built[player] = built[player] - 1
    if reason == "Removed" then
        player.leaderstats.Coins = player.leaderstats.Coins + PRICE // 2
    end
end)

function onStart()
    local player = Players.GetPlayers()[1]
    player.leaderstats.Coins = 20
    local first
    for i = 1, 6 do
        local piece = Structure.Place(0, Vector3.new(10 + i, 0, 20), 0, player)
        first = first or piece
    end
    task.wait(0.3)
    assert(built[player] == 5 and player.leaderstats.Coins == 20 - 12 + 1, player.leaderstats.Coins)
    assert(first:GetAttribute("builder") == player.UserId and first.Owner == player)
    first:TakeDamage(1000) -- destroyed: no money back
    task.wait(0.3)
    assert(built[player] == 4 and player.leaderstats.Coins == 9)
    local ok, why = pcall(Structure.Place, 0, Vector3.new(12, 0, 20), 0, player)
    assert(not ok and why, "two in one cell")
    print("done")
end
