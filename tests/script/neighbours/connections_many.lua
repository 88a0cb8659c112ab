-- One signal with as many listeners as it can get, fired in every tick.
local signal = Signal.new()
pcall(function()
    for _ = 1, 20000 do signal:Connect(function() end) end
end)
function onUpdate()
    signal:Fire(1, 2, 3)
end
