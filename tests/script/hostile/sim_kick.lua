-- world: error
-- Kicks and spawns of everybody, with everything that does not fit, without end.
local odd = {0, -1, 0 / 0, 1 / 0, "x", "\0\xff", ("r"):rep(100000), true, {}, print, Vector3.zero,
    Vector3.one * 1e30 * 1e30, Vector3.new(16384, -16384, 16384)}
local function all(player)
    for i = 1, #odd do
        pcall(player.SetSpawn, player, odd[i])
        pcall(player.Kick, player, odd[i])
        pcall(player.Spawn, player)
        pcall(player.Kick, odd[i])
    end
end
Players.PlayerAdded:Connect(all)
function onUpdate()
    for _, player in ipairs(Players.GetPlayers()) do
        all(player)
        for i = 1, 2000 do
            player:Kick(odd[7])
        end
    end
    error("nobody is here")
end
