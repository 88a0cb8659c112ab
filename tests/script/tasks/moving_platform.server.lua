-- A platform goes to and fro, and carries whoever stands on it.
-- ticks: 220
local platform = World.Find("Platform")
local from = platform.Position
local to = from + Vector3.new(0, 0, 8)

task.delay(0.5, function()
    while true do
        platform:MoveTo(to, 1)
        task.wait(1.5)
        platform:MoveTo(from, 1)
        task.wait(1.5)
    end
end)

function onStart()
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(from + Vector3.new(0, 0.3, 0))
    task.wait(1.8)
    assert(platform.Position:FuzzyEq(to, 0.05), tostring(platform.Position))
    assert(math.abs(body.Position.Z - to.Z) < 1, tostring(body.Position))
    task.wait(1.5)
    assert(platform.Position:FuzzyEq(from, 0.05), tostring(platform.Position))
    assert(math.abs(body.Position.Z - from.Z) < 1, tostring(body.Position))
    print("done")
end
