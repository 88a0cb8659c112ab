-- side: server
-- ticks: 120
-- What moves goes on when it is turned.
function onStart()
    local crate = World.Spawn("Crate", Vector3.new(3, 50, 3))
    crate:SetVelocity(Vector3.new(2, 0, 0))
    task.wait(0.5)
    local before = crate.Position
    crate:SetRotation(Vector3.new(0, 45, 0))
    assert(crate.Velocity == Vector3.new(2, 0, 0), tostring(crate.Velocity))
    task.wait(0.5)
    assert(crate.Position.X > before.X + 0.8, tostring(crate.Position))
    assert(crate.Rotation:FuzzyEq(Vector3.new(0, 45, 0), 0.01), tostring(crate.Rotation))
    crate:SetVelocity(Vector3.zero)
    before = crate.Position
    crate:SetRotation(Vector3.new(0, 90, 0))
    task.wait(0.2)
    assert(crate.Position == before, "what stood still stays")
    print("done")
end
