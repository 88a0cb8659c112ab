-- Everything with the tag "spinner" turns, whenever it comes and wherever it is.
local spinners = {}

local function add(part)
    spinners[part] = true
end
World.GetTagAddedSignal("spinner"):Connect(add)
World.GetTagRemovedSignal("spinner"):Connect(function(part)
    spinners[part] = nil
end)
for _, part in ipairs(World.GetTagged("spinner")) do
    add(part)
end

function onUpdate(self, dt)
    for part in pairs(spinners) do
        if part:IsValid() then -- the signal comes at the end of the tick in which it was destroyed
            part.Rotation = part.Rotation + Vector3.new(0, 90 * dt, 0)
        end
    end
end

function onStart()
    local crate = World.Spawn("Crate", Vector3.new(5, 3, -5))
    local other = World.Spawn("Crate", Vector3.new(9, 3, -5))
    crate:AddTag("spinner")
    other:AddTag("spinner")
    task.wait(0.5)
    assert(math.abs(crate.Rotation.Y - 45) < 5, tostring(crate.Rotation))
    crate:RemoveTag("spinner")
    other:Destroy()
    task.wait(0.1)
    local angle = crate.Rotation.Y
    task.wait(0.2)
    assert(crate.Rotation.Y == angle and next(spinners) == nil)
    print("done")
end
