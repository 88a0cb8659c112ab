-- A bomb: damage by distance, a crater, and a push.
-- ticks: 90
local function explode(center, radius, damage)
    for _, body in ipairs(World.GetInRadius(center, radius)) do
        if body.Type == "Player" or body.Type == "Npc" then
            local offset = body.Position - center
            local strength = 1 - math.clamp(offset.Magnitude / radius, 0, 1)
            body:TakeDamage(damage * strength)
            body:SetVelocity(offset.Unit * 12 * strength + Vector3.new(0, 6, 0))
        end
    end
    World.FillSphere(center, 2, 0)
end

function onStart()
    local center = Vector3.new(12, 0, 12)
    local near = Npc.Spawn(center + Vector3.new(3, 0, 0))
    local far = Npc.Spawn(center + Vector3.new(9, 0, 0))
    task.wait(0.5)
    local before = near.Position
    explode(center, 6, 100)
    assert(near.Health < 60 and near.Health > 30, near.Health)
    assert(far.Health == 100)
    assert(World.GetVoxel(center - Vector3.new(0, 1, 0)) == 0)
    task.wait(0.3)
    assert(near.Position.X > before.X + 0.5 and near.Position.Y > before.Y + 0.5, tostring(near.Position))
    print("done")
end
