-- A conveyor belt that changes its direction when somebody says so.
-- at 90: say 1 reverse
-- ticks: 150
local belt = World.Find("Platform")
local speed = Vector3.new(0, 0, 1)
belt:SetConveyor(speed)

Chat.Received:Connect(function(player, text)
    if text == "reverse" then
        speed = -speed
        belt:SetConveyor(speed)
    end
end)

function onStart()
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(belt.Position + Vector3.new(0, 0.25, -1))
    task.wait(0.2)
    local start = body.Position.Z
    task.wait(1)
    local forward = body.Position.Z - start
    assert(forward > 0.8 and forward < 1.2, forward)
    task.wait(0.5)
    local turned = body.Position.Z
    task.wait(0.5)
    assert(body.Position.Z < turned - 0.3, body.Position.Z - turned)
    print("done")
end
