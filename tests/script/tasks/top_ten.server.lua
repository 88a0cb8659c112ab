-- The ten best of all time on a board that is drawn again when somebody scores.
-- ticks: 200
local scores = DataStore.GetOrderedDataStore("HighScores")

local function submit(userId, score)
    local key = tostring(userId)
    if score > (scores:GetAsync(key) or 0) then
        scores:SetAsync(key, score)
    end
end

local function board()
    local lines = {}
    for rank, entry in ipairs(scores:GetSortedAsync(false, 10)) do
        local player = Players.GetPlayerById(tonumber(entry.key))
        lines[rank] = ("%d. %s %d"):format(rank, player and player.Name or "#" .. entry.key, entry.value)
    end
    return lines
end

function onStart()
    for id = 1, 14 do
        task.spawn(submit, id, 10 * id)
    end
    task.wait(0.5)
    submit(1, 75)
    submit(1, 20) -- not better
    local lines = board()
    assert(#lines == 10 and lines[1] == "1. #14 140", lines[1])
    assert(lines[8] == "8. player1 75", lines[8])
    print("done")
end
