-- world: budget
-- Asks for everything around, again and again.
local made = 0
function onUpdate()
    if made < 2000 then
        for _ = 1, 150 do
            pcall(World.Spawn, "Ghost", Vector3.new(made % 50, 10, made // 50))
            made = made + 1
        end
        return
    end
    while true do
        World.GetInRadius(Vector3.new(0, 0, 0), 1024)
    end
end
