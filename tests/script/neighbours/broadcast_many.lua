function onUpdate()
    for i = 1, 10000 do
        Network.Broadcast("storm", i, "text", { i })
    end
end
