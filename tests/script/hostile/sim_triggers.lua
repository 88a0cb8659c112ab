-- world: bounded
-- Hundreds of zones in one place that report everybody who is inside, and a crowd inside them.
local zones = 0
local npcs = 0
local touched = 0
function onUpdate()
    for _ = 1, 40 do
        if zones < 600 then
            local made, zone = pcall(World.Spawn, "Zone", Vector3.new(5, 1, 5))
            if made then
                zone.Touched:Connect(function() touched = touched + 1 end)
            end
            zones = zones + 1
        end
    end
    if zones >= 600 and npcs < 60 then
        pcall(Npc.Spawn, Vector3.new(5, 1, 5))
        npcs = npcs + 1
    end
end
