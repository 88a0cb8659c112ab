-- An elevator with floors: a button calls it, and it stops where it was sent.
-- ticks: 260
local SPEED = 4
local FLOORS = {0.25, 4, 8}
local lift = World.Spawn("Lift", Vector3.new(-12, FLOORS[1], 10))
local floor, moving = 1, false
local arrived = Signal.new()

local function go(number)
    if moving or number == floor then
        return
    end
    moving = true
    local goal = Vector3.new(lift.Position.X, FLOORS[number], lift.Position.Z)
    local seconds = (goal - lift.Position).Magnitude / SPEED
    lift:MoveTo(goal, seconds)
    task.wait(seconds)
    floor, moving = number, false
    arrived:Fire(number)
end

function onStart()
    local stops = {}
    arrived:Connect(function(number)
        stops[#stops + 1] = number
    end)
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(lift.Position + Vector3.new(0, 0.3, 0))
    task.wait(0.2)
    go(3)
    task.wait(0.1)
    assert(math.abs(body.Position.Y - 8.25) < 0.2, tostring(body.Position))
    go(3)
    task.spawn(go, 2)
    go(1) -- it is on its way: not now
    task.wait(1.2)
    assert(#stops == 2 and stops[1] == 3 and stops[2] == 2)
    assert(math.abs(body.Position.Y - 4.25) < 0.2, tostring(body.Position))
    print("done")
end
