for _ = 1, 100 do
    task.spawn(function()
        while true do
            task.wait()
            for _ = 1, 220000 do end
        end
    end)
end
