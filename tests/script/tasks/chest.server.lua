-- A chest with random loot by weight; each player can open it once.
local LOOT = {
    {item = "stick", weight = 70},
    {item = "gem", weight = 25},
    {item = "crown", weight = 5},
}
local random = Random.new(42)
local total = 0
for _, entry in ipairs(LOOT) do
    total = total + entry.weight
end

local function roll()
    local pick = random:NextInteger(1, total)
    for _, entry in ipairs(LOOT) do
        pick = pick - entry.weight
        if pick <= 0 then
            return entry.item
        end
    end
end

local opened = {}
local inventory = {}
local chest = World.Find("Button")
chest.Touched:Connect(function(other)
    local player = other.Player
    if player and not opened[player.UserId] then
        opened[player.UserId] = true
        inventory[#inventory + 1] = roll()
        Chat.Send("You found a " .. inventory[1], player)
    end
end)

function onStart()
    local counts = {stick = 0, gem = 0, crown = 0}
    for _ = 1, 1000 do
        local item = roll()
        counts[item] = counts[item] + 1
    end
    assert(counts.stick > 640 and counts.stick < 760, counts.stick)
    assert(counts.crown > 20 and counts.crown < 90, counts.crown)
    local body = Players.GetPlayers()[1].Character
    for _ = 1, 2 do
        body:SetPosition(chest.Position + Vector3.new(0, 0.6, 0))
        task.wait(0.3)
        body:SetPosition(Vector3.zero)
        task.wait(0.3)
    end
    assert(#inventory == 1 and counts[inventory[1]])
    print("done")
end
