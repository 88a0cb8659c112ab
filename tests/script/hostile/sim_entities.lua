-- world: limit
-- Parts until there are as many as one script may have.
local made = 0
function onUpdate()
    for _ = 1, 200 do
        made = made + 1
        local spawned, message = pcall(World.Spawn, "Block", Vector3.new(made % 64 - 32, 40, made // 64 - 32))
        if not spawned then
            error(message, 0)
        end
    end
end
