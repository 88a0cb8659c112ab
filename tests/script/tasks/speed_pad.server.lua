-- A pad that pushes a runner forward, with a cooldown for each.
local COOLDOWN = 1
local pad = World.Find("Platform")
local ready = {}

pad.Touched:Connect(function(other)
    local now = World.Time()
    if other.Player and now >= (ready[other] or 0) then
        ready[other] = now + COOLDOWN
        other:SetVelocity(Vector3.new(0, 2, 25))
    end
end)

function onStart()
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(pad.Position + Vector3.new(0, 0.4, 0))
    task.wait(0.5)
    assert(body.Position.Z > 3, tostring(body.Position))
    body.Velocity = Vector3.zero
    body:SetPosition(pad.Position + Vector3.new(0, 0.4, 0))
    task.wait(0.3)
    assert(body.Position.Z < 1, tostring(body.Position)) -- not again so soon
    print("done")
end
