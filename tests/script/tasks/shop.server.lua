-- A shop: the client asks, the server checks the price and pays.
local prices = {Sword = 30, Shield = 50}
local owned = {}

local function join(player)
    player.leaderstats.Coins = 70
    owned[player] = {}
end
Players.PlayerAdded:Connect(join)
for _, player in ipairs(Players.GetPlayers()) do
    join(player)
end
Players.PlayerRemoving:Connect(function(player)
    owned[player] = nil
end)

Network.Declare("Buy", {types = {"string"}, rate = 5})
Network.OnInvoke("Buy", function(player, item)
    local price = prices[item]
    if not price then
        return false, "no such item"
    elseif owned[player][item] then
        return false, "you have it"
    elseif player.leaderstats.Coins < price then
        return false, "too expensive"
    end
    player.leaderstats.Coins = player.leaderstats.Coins - price
    owned[player][item] = true
    return true
end)

Network.On("Leave", function(player)
    assert(player.leaderstats.Coins == 40 and owned[player].Sword and not owned[player].Shield)
    print("done")
end)
