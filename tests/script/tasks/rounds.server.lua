-- Rounds with an intermission: wait, teleport everybody into the arena, play, bring them back.
-- ticks: 220
local INTERMISSION, ROUND = 1, 2
local ARENA = Vector3.new(20, 0, 20)
local state = "waiting"
local rounds = 0

local function countdown(seconds, text)
    for left = seconds, 1, -1 do
        state = text .. " " .. left
        task.wait(1)
    end
end

task.spawn(function()
    while true do
        countdown(INTERMISSION, "intermission")
        for _, player in ipairs(Players.GetPlayers()) do
            player:Spawn(ARENA)
        end
        countdown(ROUND, "round")
        rounds = rounds + 1
        for _, player in ipairs(Players.GetPlayers()) do
            player:Spawn()
        end
    end
end)

function onStart()
    local body = Players.GetPlayers()[1].Character
    assert(state == "intermission 1", state)
    task.wait(1.2)
    assert(state == "round 2" and (body.Position - ARENA).Magnitude < 1, state)
    task.wait(2)
    assert(rounds == 1 and body.Position.Magnitude < 1, tostring(body.Position))
    assert(state:find("intermission", 1, true), state)
    print("done")
end
