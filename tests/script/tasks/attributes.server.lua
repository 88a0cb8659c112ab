-- Mana: spent by spells, comes back by itself; only its owner sees it.
-- ticks: 150
local MAX = 50

local function setup(player)
    player.Character:SetAttribute("mana", MAX, {visibility = "owner"})
end
Players.PlayerAdded:Connect(setup)

Network.On("Cast", function(player, cost)
    local body = player.Character
    local mana = body:GetAttribute("mana")
    if math.type(cost) == "integer" and cost > 0 and mana >= cost then
        body:SetAttribute("mana", mana - cost)
    end
end)

Timer.Every(0.2, function()
    for _, player in ipairs(Players.GetPlayers()) do
        local mana = player.Character:GetAttribute("mana")
        if mana < MAX then
            player.Character:SetAttribute("mana", mana + 5)
        end
    end
end)

function onStart()
    local body = Players.GetPlayers()[1].Character
    local lowest = MAX
    body:GetAttributeChangedSignal("mana"):Connect(function(now)
        lowest = math.min(lowest, now)
    end)
    task.wait(2)
    assert(lowest == 20 and body:GetAttribute("mana") == MAX, lowest)
    print("done")
end
