-- Crafting: recipes, an inventory of counts, and all or nothing.
local RECIPES = {
    plank = {needs = {log = 1}, makes = 4},
    table_ = {needs = {plank = 4}, makes = 1},
    torch = {needs = {stick = 1, coal = 1}, makes = 2},
}
local inventories = {}
Players.PlayerRemoving:Connect(function(player)
    inventories[player] = nil
end)

local function inventory(player)
    local mine = inventories[player]
    if not mine then
        mine = {}
        inventories[player] = mine
    end
    return mine
end

local function craft(player, name)
    local recipe = RECIPES[name]
    local mine = inventory(player)
    for item, count in pairs(recipe.needs) do
        if (mine[item] or 0) < count then
            return false, ("needs %d %s"):format(count, item)
        end
    end
    for item, count in pairs(recipe.needs) do
        mine[item] = mine[item] - count
    end
    mine[name] = (mine[name] or 0) + recipe.makes
    return true
end

function onStart()
    local player = Players.GetPlayers()[1]
    local mine = inventory(player)
    mine.log, mine.coal = 1, 5
    assert(craft(player, "plank") and mine.plank == 4 and mine.log == 0)
    assert(craft(player, "table_") and mine.table_ == 1)
    local ok, why = craft(player, "torch")
    assert(not ok and why == "needs 1 stick" and mine.coal == 5, why)
    print("done")
end
