-- A pet flies behind its owner, and goes when the owner does.
-- at 5: join 2 bo
-- at 150: leave 2
-- ticks: 200
local OFFSET = Vector3.new(1.5, 2, -1.5)
local pets = {}

local function adopt(player)
    local pet = World.Spawn("Spark", player.Character.Position + OFFSET)
    pet:SetAttribute("owner", player.Name)
    pets[player] = pet
end

Players.PlayerAdded:Connect(function(player)
    player.Spawned:Connect(function()
        if not pets[player] then
            adopt(player)
        end
    end)
end)
Players.PlayerRemoving:Connect(function(player)
    pets[player]:Destroy()
    pets[player] = nil
end)

function onUpdate(self, dt)
    for player, pet in pairs(pets) do
        local goal = player.Character.Position + OFFSET
        pet.Position = pet.Position:Lerp(goal, math.min(1, 6 * dt))
    end
end

function onStart()
    task.wait(0.5)
    local bo = Players.GetPlayerByName("bo")
    local pet = pets[bo]
    bo.Character:SetPosition(Vector3.new(10, 0, 0))
    task.wait(1.5)
    assert((pet.Position - bo.Character.Position - OFFSET).Magnitude < 0.1, tostring(pet.Position))
    task.wait(1)
    assert(not pet:IsValid() and pets[bo] == nil)
    print("done")
end
