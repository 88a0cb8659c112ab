local signal = Signal.new()
for _ = 1, 300 do
    task.spawn(function()
        while true do
            signal:Wait()
            for _ = 1, 60000 do end
        end
    end)
end
Timer.Every(0, function()
    signal:Fire()
end)
