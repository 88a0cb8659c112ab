-- world: bounded
-- Thousands of parts that all move, in one place.
local parts = {}
function onUpdate()
    for _ = 1, 100 do
        if #parts < 3000 then
            local made, part = pcall(World.Spawn, "Ghost", Vector3.new(0, 20, 0))
            if not made then
                return
            end
            part:MoveTo(Vector3.new(20, 20, 20), 600)
            parts[#parts + 1] = part
        end
    end
end
