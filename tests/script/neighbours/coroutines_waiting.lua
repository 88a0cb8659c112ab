-- As many sleeping coroutines as it can get.
pcall(function()
    for _ = 1, 20000 do
        task.spawn(function() task.wait(1000) end)
    end
end)
