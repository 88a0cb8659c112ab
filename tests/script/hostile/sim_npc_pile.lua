-- world: limit
-- As many NPCs as there may be, all in one point.
function onUpdate()
    for _ = 1, 20 do
        Npc.Spawn(Vector3.new(0, 1, 0))
    end
end
