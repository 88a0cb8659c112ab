-- Fills whatever became free, every tick.
function onUpdate()
    for _ = 1, 2000 do
        if not pcall(task.delay, 1000, function() end) then break end
    end
end
