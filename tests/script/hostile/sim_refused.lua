-- world: budget
-- Calls that fail cost as much as those that do not.
local made = 0
function onUpdate()
    if made < 2000 then
        for _ = 1, 150 do
            pcall(World.Spawn, "Block", Vector3.new(0.5, 0.5, 0.5))
            made = made + 1
        end
        return
    end
    while true do
        pcall(Structure.Place, 0, Vector3.new(0, 0, 0))
    end
end
