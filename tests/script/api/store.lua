-- side: server
-- ticks: 200
-- DataStore: values, updates, versions, order; everything pauses until it is safe.
function onStart()
    local store = DataStore.GetDataStore("progress")
    assert(store:GetAsync("ada") == nil)
    store:SetAsync("ada", {level = 3, items = {"key", "lamp"}, at = Vector3.new(1, 2, 3)})
    local value = store:GetAsync("ada")
    assert(value.level == 3 and value.items[2] == "lamp" and value.at == Vector3.new(1, 2, 3))
    local new = store:UpdateAsync("ada", function(old) old.level = old.level + 1 return old end)
    assert(new.level == 4 and store:GetAsync("ada").level == 4)
    assert(store:UpdateAsync("ada", function() return nil end).level == 4, "nil leaves it as it is")
    assert(store:IncrementAsync("visits") == 1 and store:IncrementAsync("visits", 5) == 6)
    assert(#store:ListVersionsAsync("ada") >= 2)
    assert(store:RemoveAsync("ada").level == 4 and store:GetAsync("ada") == nil)

    local board = DataStore.GetOrderedDataStore("scores")
    for name, score in pairs({a = 5, b = 9, c = 1}) do board:SetAsync(name, score) end
    local top = board:GetSortedAsync(false, 2)
    assert(#top == 2 and top[1].key == "b" and top[1].value == 9 and top[2].key == "a")
    assert(not pcall(board.SetAsync, board, "x", "text"))
    assert(not pcall(store.SetAsync, store, "x", print))
    assert(not pcall(store.GetSortedAsync, store, true, 5))
    print("done")
end
