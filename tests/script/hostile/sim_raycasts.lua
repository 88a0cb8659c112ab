-- world: budget
-- Rays as long as they may be, through a heap of parts, as many as a tick allows.
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
    while true do
        World.Raycast(Vector3.new(-2, 30, 0), Vector3.new(1, 0.001, 0), 4096)
    end
end
