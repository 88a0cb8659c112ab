-- Makes and destroys as much as it can, every tick.
function onUpdate()
    pcall(function()
        local made = {}
        for i = 1, 2000 do made[i] = Npc.Spawn(Vector3.new(0, 1, 0)) end
        for _, entity in ipairs(made) do World.Destroy(entity) end
    end)
end
