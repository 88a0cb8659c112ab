-- Handlers for every player and event, each dear.
Players.PlayerAdded:Connect(function(player)
    for _ = 1, 400000 do end
end)
function onUpdate()
    for _, player in ipairs(Players.GetPlayers()) do
        for _ = 1, 200 do Network.FireClient(player, "storm", 1) end
    end
end
