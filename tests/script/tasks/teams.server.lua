-- Two teams of the same size; friends do not hurt each other.
-- at 10: join 2 bo
-- at 12: join 3 cy
local TEAMS = {"red", "blue"}

local function count(team)
    local n = 0
    for _, player in ipairs(Players.GetPlayers()) do
        n = n + (player.Team == team and 1 or 0)
    end
    return n
end

local function assign(player)
    player.Team = count("red") <= count("blue") and TEAMS[1] or TEAMS[2]
    player:Spawn()
end
Players.PlayerAdded:Connect(assign)
for _, player in ipairs(Players.GetPlayers()) do
    assign(player)
end

local function attack(from, to, damage)
    if from.Team ~= to.Team then
        to.Character:TakeDamage(damage, from.Character)
    end
end

function onStart()
    task.wait(0.5)
    local ada, bo, cy = table.unpack(Players.GetPlayers())
    assert(ada.Team == "red" and bo.Team == "blue" and cy.Team == "red")
    assert((cy.Character.Position - World.Find("RedBase").Position).Magnitude < 2)
    attack(ada, cy, 40)
    attack(ada, bo, 40)
    assert(cy.Character.Health == 100 and bo.Character.Health == 60)
    print("done")
end
