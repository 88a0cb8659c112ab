-- world: budget
-- Characters turned without end, in every tick, by any numbers.
local guard = Npc.Spawn(Vector3.new(0, 1, 0))
local function turn(body)
    for _, value in ipairs({0 / 0, 1 / 0, -1 / 0, 1e38, -1e38, 1e-45, 90}) do
        pcall(function() body:SetRotation(Vector3.new(value, value, value)) end)
        pcall(function() body:SetRotation(Vector3.one * value) end)
        pcall(function() body.Rotation = Vector3.new(90, value, 0) end)
    end
    for _, value in ipairs({{}, "x", print, true}) do
        pcall(body.SetRotation, body, value)
    end
    pcall(body.SetRotation, body)
end
function onUpdate()
    while true do
        for _, player in ipairs(Players.GetPlayers()) do
            turn(player.Character or guard)
        end
        turn(guard)
    end
end
