-- As many timers as it can get, all due at the same time.
pcall(function()
    for _ = 1, 20000 do
        Timer.Every(0.5, function() end)
    end
end)
