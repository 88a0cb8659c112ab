function onStart()
    Network.OnClientEvent("hello", function(player, word)
        print(player, word)
    end)
end
