-- world: budget
-- NPCs that have to stand in a heap of thousands of parts.
local at = Vector3.new(0, 1, 0)
local made = 0
function onUpdate()
    for _ = 1, 150 do
        if made < 3000 then
            pcall(World.Spawn, "Ghost", at)
            made = made + 1
        end
    end
    for _ = 1, 4 do
        pcall(Npc.Spawn, at)
    end
end
