-- A top level that only makes signals.
kept = {}
pcall(function()
    for i = 1, 200000 do kept[i] = Signal.new() end
end)
