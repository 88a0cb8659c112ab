-- side: server
-- A character is turned; it stands upright, so only the turn about y counts.
function onStart()
    local body = Players.GetPlayers()[1].Character
    body:SetRotation(Vector3.new(30, 90, -20))
    assert(body.Rotation:FuzzyEq(Vector3.new(0, 90, 0), 0.01), tostring(body.Rotation))
    task.wait(0.2)
    assert(body.Rotation:FuzzyEq(Vector3.new(0, 90, 0), 0.01), "it looks there until somebody looks elsewhere")
    body.Rotation = Vector3.new(0, -135, 0)
    task.wait(0.1)
    assert(body.Rotation:FuzzyEq(Vector3.new(0, -135, 0), 0.01), tostring(body.Rotation))
    local guard = World.Spawn("Guard", Vector3.new(5, 0, 5))
    guard:SetRotation(Vector3.new(0, 45, 0))
    assert(guard.Rotation:FuzzyEq(Vector3.new(0, 45, 0), 0.01), tostring(guard.Rotation))

    -- A part that moves goes on moving when it is turned.
    local crate = World.Spawn("Crate", Vector3.new(0, 20, 0))
    crate:SetVelocity(Vector3.new(3, 0, 0))
    crate:SetRotation(Vector3.new(0, 10, 0))
    task.wait(0.5)
    assert(crate.Position.X > 1, tostring(crate.Position))
    print("done")
end
