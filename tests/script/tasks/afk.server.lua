-- Who does not move for a while is asked to leave.
-- at 5: join 2 bo
-- at 20: walk 0 1
-- ticks: 150
local LIMIT = 1
local seen = {}

local function look(player)
    local now, place = World.Time(), player.Character.Position
    local last = seen[player]
    if not last or (place - last.place).Magnitude > 0.1 then
        seen[player] = {place = place, time = now}
    elseif now - last.time > LIMIT then
        player:Kick("You were away")
    end
end

Timer.Every(0.25, function()
    for _, player in ipairs(Players.GetPlayers()) do
        look(player)
    end
end)
Players.PlayerRemoving:Connect(function(player)
    seen[player] = nil
end)

function onStart()
    task.wait(2.2)
    local players = Players.GetPlayers()
    assert(#players == 1 and players[1].Name == "player1", #players)
    print("done")
end
