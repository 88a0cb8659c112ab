-- Five hundred timers that are due every tick, each of them just within what one call may use.
for _ = 1, 500 do
    Timer.Every(0, function()
        for _ = 1, 400000 do end
    end)
end
