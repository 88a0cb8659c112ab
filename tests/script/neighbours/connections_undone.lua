function onUpdate()
    for _ = 1, 2000 do
        Players.PlayerAdded:Connect(print):Disconnect()
    end
end
