-- world: budget
-- Numbers of players walked through for ever, and names that are not there.
local function walk(player)
    local stats = player and player.leaderstats or {}
    for i = 1, 30 do
        pcall(function() stats["s" .. i] = i end)
    end
    for _, bad in ipairs({0 / 0, 2 ^ 63, {}, "nothing", print, Vector3.one, false}) do
        pcall(next, stats, bad)
        pcall(function() stats[bad] = 1 end)
        pcall(function() stats.x = bad end)
    end
    for name in pairs(stats) do
        for _ = 1, #stats do
            next(stats, name)
        end
    end
end
function onUpdate()
    while true do
        walk(Players.GetPlayers()[1])
        for _, name in ipairs({"Start", "", "nothing", ("x"):rep(5000), "\0"}) do
            local point = World.Find(name)
            if point then
                pcall(point.Destroy, point)
                pcall(point.MoveTo, point, Vector3.one / 0, 0 / 0)
            end
        end
    end
end
