-- Two signals that fire each other, each handler as dear as it may be.
local ping, pong = Signal.new(), Signal.new()
ping:Connect(function()
    for _ = 1, 100000 do end
    pong:Fire()
end)
pong:Connect(function()
    for _ = 1, 100000 do end
    ping:Fire()
end)
function onUpdate()
    ping:Fire()
end
