-- As many coroutines as there may be, and more.
for _ = 1, 5000 do
    task.spawn(function()
        while true do
            task.wait(0.05)
        end
    end)
end
