-- A vote for the next map: one voice for each player, the last one counts.
-- at 10: join 2 bo
-- at 11: join 3 cy
-- at 40: say 1 /vote desert
-- at 42: say 2 /vote forest
-- at 44: say 3 /vote forest
-- at 46: say 1 /vote swamp
local MAPS = {"desert", "forest", "swamp"}
local votes = {}

local function tally()
    local counts, best = {}, MAPS[1]
    for _, map in pairs(votes) do
        counts[map] = (counts[map] or 0) + 1
    end
    for _, map in ipairs(MAPS) do
        if (counts[map] or 0) > (counts[best] or 0) then
            best = map
        end
    end
    return best, counts
end

Chat.Received:Connect(function(player, text)
    local map = text:match("^/vote (%w+)$")
    if map and table.find(MAPS, map) then
        votes[player] = map
    elseif map then
        Chat.Send("There is no map " .. map, player)
    end
end)
Players.PlayerRemoving:Connect(function(player)
    votes[player] = nil
end)

function onStart()
    task.wait(1.2)
    local best, counts = tally()
    assert(best == "forest" and counts.forest == 2, best)
    assert(counts.desert == nil and counts.swamp == 1)
    print("done")
end
