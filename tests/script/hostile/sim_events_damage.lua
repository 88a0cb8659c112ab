-- world: bounded
-- Handlers of Damaged, Hit and Landed that cause the same again, twice for each.
local function again(npc)
    npc.Damaged:Connect(function(amount)
        npc:TakeDamage(-amount)
        npc:TakeDamage(amount / 2)
    end)
    npc.Landed:Connect(function() npc.Position = npc.Position + Vector3.new(0, 1, 0) end)
    npc.Hit:Connect(function(_, at)
        for _ = 1, 2 do
            pcall(Projectile.Fire, {position = at + Vector3.new(0, 3, 0), velocity = Vector3.new(0, -50, 0), damage = 1})
        end
    end)
end
function onStart()
    for i = 1, 20 do
        local npc = Npc.Spawn(Vector3.new(i, 2, 10))
        again(npc)
        npc:TakeDamage(1)
        Projectile.Fire({position = Vector3.new(i, 9, 10), velocity = Vector3.new(0, -50, 0), damage = 1})
    end
end
Projectile.Hit:Connect(function(_, _, at)
    pcall(Projectile.Fire, {position = at + Vector3.new(0, 2, 0), velocity = Vector3.new(0, -50, 0)})
end)
