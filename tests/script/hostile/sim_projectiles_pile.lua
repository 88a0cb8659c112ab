-- world: budget
-- Shots that hang inside a heap of parts: each has to look at every part in every tick.
local at = Vector3.new(0, 30, 0)
local parts = 0
function onUpdate()
    if parts < 1500 then
        for _ = 1, 100 do
            pcall(World.Spawn, "Ghost", at)
            parts = parts + 1
        end
        return
    end
    for _ = 1, 200 do
        pcall(Projectile.Fire, {position = at, velocity = Vector3.new(0, 0.001, 0)})
    end
end
