-- A door that opens for those who have the key, and closes again.
-- ticks: 260
local door = World.Find("Door")
local closed = door.Position
local open = false

local function try(player)
    if open or not player.Character:GetAttribute("key") then
        return
    end
    open = true
    door:MoveTo(closed + Vector3.new(0, 3, 0), 0.5)
    task.wait(1.5)
    door:MoveTo(closed, 0.5)
    task.wait(0.5)
    open = false
end

door.Touched:Connect(function(other)
    if other.Player then
        try(other.Player)
    end
end)

function onStart()
    local player = Players.GetPlayers()[1]
    player.Character:SetPosition(Vector3.new(0, 0, 5.4))
    task.wait(0.5)
    assert(door.Position == closed, "it opened without a key")
    player.Character:SetAttribute("key", true)
    player.Character:SetPosition(Vector3.new(0, 0, 3))
    task.wait(0.2)
    player.Character:SetPosition(Vector3.new(0, 0, 5.4))
    task.wait(1)
    assert(door.Position.Y > closed.Y + 2.9, tostring(door.Position))
    task.wait(1.5)
    assert(door.Position:FuzzyEq(closed, 0.01) and not open)
    print("done")
end
