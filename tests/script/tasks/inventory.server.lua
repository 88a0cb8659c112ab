-- The server keeps what players have, and sends it when they ask.
local Inventory = require("ReplicatedStorage/inventory")
local bags = {}

local function bag(player)
    bags[player] = bags[player] or Inventory.new(2)
    return bags[player]
end

Network.OnInvoke("Pick", function(player, item)
    return bag(player):add(item, 2), bag(player).items
end)

function onStart()
    assert(require("ReplicatedStorage/inventory") == Inventory, "it runs once")
    task.wait(1.5)
    local mine = bags[Players.GetPlayers()[1]]
    assert(mine:used() == 2 and mine.items.apple == 4 and mine.items.stone == nil)
    print("done")
end
