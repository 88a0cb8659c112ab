function onStart()
    local coins = DataStore.GetDataStore("coins")
    coins:SetAsync("ada", {gold = 5, list = {1, 2, 3}})
    local kept = coins:GetAsync("ada")
    print("kept", kept.gold, #kept.list)
    print("none", coins:GetAsync("nobody") == nil)
    local after = coins:UpdateAsync("ada", function(old)
        old.gold = old.gold + 1
        return old
    end)
    print("after", after.gold)
    print("increment", coins:IncrementAsync("visits", 2), coins:IncrementAsync("visits"))
    local removed = coins:RemoveAsync("ada")
    print("removed", removed.gold)
    local best = DataStore.GetOrderedDataStore("best")
    best:SetAsync("a", 3)
    best:SetAsync("b", 9)
    for _, entry in ipairs(best:GetSortedAsync(false, 10)) do
        print("best", entry.key, entry.value)
    end
    if not pcall(coins.SetAsync, "bad", function() return 1 end) then
        print("refused")
    end
    print(Json.Encode({1, "two", true}), Json.Decode("[4, 5]")[2])
    local random = Random.new(7)
    print(random:NextInteger(1, 100), random:NextInteger(1, 100))
end
