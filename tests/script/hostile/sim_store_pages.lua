-- world: bounded
-- Pages and versions with everything that is no entry, no number and no version, beside the largest old values.
local store = DataStore.GetDataStore("x")
local board = DataStore.GetOrderedDataStore("x")
local trap = setmetatable({}, {__index = function() error("trap") end})
local odd = {0, -1, 1.5, 0 / 0, 1 / 0, -1 / 0, math.maxinteger, math.mininteger, "x", "", "\0", "\xff", true,
    {}, trap, print, store, Vector3.zero, {key = "a", value = 1}, {key = "\xff", value = 1}, {key = "", value = 0},
    {key = string.rep("k", 129), value = 1}, {key = trap, value = trap}, {key = "a", value = 2 ^ 63}}
local large = string.rep("v", 60000)
local round = 0
function onUpdate()
    round = round + 1
    task.spawn(function() pcall(store.SetAsync, store, "large", large .. round) end)
    for i = 1, 8 do
        local a, b, c = odd[(round * 7 + i) % #odd + 1], odd[(round + i * 5) % #odd + 1], odd[(round * 3 + i) % #odd + 1]
        task.spawn(function()
            pcall(store.GetVersionAsync, store, "large", a)
            pcall(store.GetVersionAsync, store, b, round)
            pcall(store.ListVersionsAsync, store, b)
            pcall(board.GetSortedAsync, board, a, b, c, a, b)
            pcall(board.GetSortedAsync, board, true, 100, a, b, c)
            pcall(board.GetSortedAsync, board, false, 1, nil, nil, c)
            pcall(board.GetSortedAsync, store, true, 1)
            pcall(board.GetVersionAsync, c, a, b)
        end)
    end
end
