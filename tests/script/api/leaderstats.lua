-- side: server
-- The numbers of a player can be walked through, in the order in which they came.
function onStart()
    local stats = Players.GetPlayers()[1].leaderstats
    assert(next(stats) == nil and #stats == 0)
    stats.Wins = 2
    stats.Coins = 5.5
    stats["Best time"] = 0
    local seen = {}
    for name, value in pairs(stats) do
        seen[#seen + 1] = name .. "=" .. value
        stats[name] = value + 1 -- while walking
    end
    assert(table.concat(seen, ",") == "Wins=2,Coins=5.5,Best time=0", table.concat(seen, ","))
    assert(#stats == 3 and stats.Wins == 3)
    local name, value = next(stats)
    assert(name == "Wins" and value == 3 and math.type(value) == "integer")
    assert(select(2, next(stats, "Wins")) == 6.5 and next(stats, "Best time") == nil)
    local count = 0
    for k in next, stats do
        count = count + 1
    end
    assert(count == 3)
    assert(not pcall(next, stats, "nothing") and not pcall(next, stats, 7) and not pcall(next, stats, {}))
    -- next of any other table is Lua's own, whatever its metatable holds.
    local own = setmetatable({x = 1}, {__next = function() return "no" end})
    assert(next(own) == "x" and next(own, "x") == nil and not pcall(next, own, "y"))
    assert(not pcall(next) and not pcall(next, 5) and next({}) == nil)
    for i = 1, 20 do
        pcall(function() stats["s" .. i] = i end)
    end
    assert(#stats == 16)
    print("done")
end
