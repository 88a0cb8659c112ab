Network.OnServerEvent("Reply", function(v, e) print("client heard", v, e.Type) end)
Network.OnServerEvent("All", function(x) print("broadcast", x) end)

function onStart()
    Network.FireServer("Hello", Vector3.new(1, 2, 3), {a = {1, "two"}})
    Network.FireServer("Typed", 1, "good")
    Network.FireServer("Typed", "bad", 1)
    print("sum", (Network.Invoke("Add", 2, 3)))
    local ok = pcall(function() return Network.Invoke("Nobody") end)
    print("nobody", ok, Players.LocalPlayer and Players.LocalPlayer.Name)
end
