function onStart()
    Network.FireServer("hello")
end
