-- world: bounded
-- Makes and destroys as many things as it can, in every tick.
function onUpdate()
    for i = 1, 300 do
        local made, part = pcall(World.Spawn, "Block", Vector3.new(i % 10, 30, i // 10))
        if made then
            World.Destroy(part)
        end
    end
end
