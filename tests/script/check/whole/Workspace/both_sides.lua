function onStart()
    Network.FireServer("x")
end
if math.random() > 2 then
    Network.FireServer("y")
end
