-- Two pads that lead to each other, without sending anybody back at once.
-- ticks: 180
local here = World.Spawn("Crate", Vector3.new(-10, 0.5, 14))
local there = World.Spawn("Crate", Vector3.new(14, 0.5, -10))
local busy = {}

local function link(from, to)
    from.Touched:Connect(function(other)
        if other.Player and not busy[other] then
            busy[other] = true
            other:SetPosition(to.Position + Vector3.new(0, 0.6, 0))
            task.wait(0.8)
            busy[other] = nil
        end
    end)
end
link(here, there)
link(there, here)

function onStart()
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(here.Position + Vector3.new(0, 0.6, 0))
    task.wait(0.4)
    assert((body.Position - there.Position).Magnitude < 1.5, tostring(body.Position))
    task.wait(1)
    body:SetPosition(Vector3.new(14, 0, -6))
    task.wait(0.3)
    body:SetPosition(there.Position + Vector3.new(0, 0.6, 0))
    task.wait(0.4)
    assert((body.Position - here.Position).Magnitude < 1.5, tostring(body.Position))
    print("done")
end
