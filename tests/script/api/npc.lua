-- side: server
-- ticks: 240
-- NPCs walk where they are sent, projectiles fly and hurt.
function onStart()
    local guard = Npc.Spawn(Vector3.new(10, 1, 10))
    assert(guard.Type == "Npc")
    assert(Npc.GetState(guard) == "Idle")
    local start = guard.Position
    Npc.MoveTo(guard, Vector3.new(14, 1, 10))
    task.wait(2.5)
    assert((guard.Position - start).Magnitude > 2, tostring(guard.Position))
    Npc.SetPatrol(guard, {Vector3.new(10, 1, 10), Vector3.new(14, 1, 10)})
    assert(not pcall(Npc.SetPatrol, guard, {1}))
    local round = {}
    for i = 1, 16 do
        round[i] = Vector3.new(10 + i % 4, 1, 10)
    end
    Npc.SetPatrol(guard, round) -- as many points as a scene may give it
    round[17] = Vector3.new(10, 1, 10)
    local ok, message = pcall(Npc.SetPatrol, guard, round)
    assert(not ok and message:find("at most 16 points", 1, true), message)
    Npc.SetTarget(guard, nil)

    local target = Npc.Spawn(Vector3.new(-10, 1, 0))
    task.wait(0.2)
    local health = target.Health
    local bullet = Projectile.Fire({position = Vector3.new(-10, 1.6, -8), velocity = Vector3.new(0, 0, 40),
        damage = 25})
    assert(bullet.Type == "Projectile" and bullet.Velocity == Vector3.new(0, 0, 40))
    task.wait(0.5)
    assert(target.Health == health - 25, target.Health)
    assert(not bullet:IsValid())
    print("done")
end
