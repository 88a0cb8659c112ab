-- Runs into its limit inside pcall, as often as it can.
Timer.Every(0, function()
    for _ = 1, 100 do
        pcall(function() while true do end end)
    end
end)
