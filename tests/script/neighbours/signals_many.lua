-- Fires first and connects then: what is queued has all of them to call.
local signal = Signal.new()
function onStart()
    for _ = 1, 1000 do
        signal:Fire(1, 2, 3)
    end
    for _ = 1, 1000 do
        signal:Connect(function() end)
    end
end
function onUpdate()
    for _ = 1, 1000 do
        signal:Fire(1, 2, 3)
    end
end
