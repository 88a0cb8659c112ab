-- All the connections that a signal of the world can have.
for _ = 1, 5000 do
    Players.PlayerAdded:Connect(function()
        for _ = 1, 460000 do end
    end)
end
