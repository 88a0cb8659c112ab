-- Quiet, and then dear, twice a second.
Timer.Every(0.5, function()
    for _ = 1, 460000 do end
end)
