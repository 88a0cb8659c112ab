Network.Declare("Typed", {types = {"number", "string"}})

Network.OnClientEvent("Hello", function(player, v, t)
    print("server heard", player.Name, v, #t.a)
    Network.FireClient(player, "Reply", v * 2, player.Character)
    Network.Broadcast("All", "x")
end)
Network.OnClientEvent("Typed", function(_, n, s) print("typed", n, s) end)
Network.OnInvoke("Add", function(_, a, b)
    task.wait(0.1)
    return a + b
end)
Players.PlayerAdded:Connect(function(player) print("added", player.Name) end)
for _, player in ipairs(Players.GetPlayers()) do
    print("here", player.Name, player.UserId)
end
