-- world: bounded
-- Bursts, beams and lights without end, also on what is gone.
local made = {}
function onUpdate()
    for i = 1, 20 do
        local ok, part = pcall(World.Spawn, "Block", Vector3.new(i, 40, #made))
        if ok then
            made[#made + 1] = part
        end
    end
    pcall(function()
        for i = 1, #made do
            made[i]:SetLight({brightness = i % 10, range = 1 + i % 31})
            made[i]:SetEmitter("fire", {size = 10, rate = 4})
            made[i]:SetTrail({seconds = 5})
            if i % 3 == 0 then
                made[i]:Destroy()
            end
        end
    end)
    pcall(function()
        for i = 1, 1000000 do
            Effect.Burst("explosion", Vector3.new(i % 16000, 1e30, -1e30), {size = 10})
            Effect.Beam(Vector3.zero, Vector3.new(1e30, 0, 0), {width = 2, seconds = 10})
        end
    end)
end
