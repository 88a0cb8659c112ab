-- A player's data is loaded at the start, saved at the end and once in a while.
-- at 10: join 2 bo
-- at 90: leave 2
-- at 130: join 2 bo
-- ticks: 220
local store = DataStore.GetDataStore("PlayerData")
local START = {coins = 100, items = {}}
local data = {}

local function save(player)
    local ok, why = pcall(store.SetAsync, store, tostring(player.UserId), data[player])
    if not ok then
        warn("could not save", player.Name, why)
    end
end

Players.PlayerAdded:Connect(function(player)
    local loaded = store:GetAsync(tostring(player.UserId))
    data[player] = loaded or {coins = START.coins, items = {}}
    player.leaderstats.Coins = data[player].coins
end)
Players.PlayerRemoving:Connect(function(player)
    save(player)
    data[player] = nil
end)
Timer.Every(60, function()
    for player in pairs(data) do
        save(player)
    end
end)

function onStart()
    task.wait(0.7)
    local bo = Players.GetPlayerByName("bo")
    assert(bo.leaderstats.Coins == 100, bo.leaderstats.Coins)
    data[bo].coins = data[bo].coins + 25
    table.insert(data[bo].items, "sword")
    task.wait(2)
    local again = Players.GetPlayerByName("bo")
    assert(again.leaderstats.Coins == 125, again.leaderstats.Coins)
    assert(data[again].items[1] == "sword")
    print("done")
end
