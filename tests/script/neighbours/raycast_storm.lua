function onUpdate()
    pcall(function()
        for i = 1, 100000 do
            World.Raycast(Vector3.new(0, 2, 0), Vector3.new(1, 0.001 * i % 1, 0.3), 500)
        end
    end)
end
