-- side: server
-- And the other way round.
local function raises(f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and err:find("works on a client only; this script runs on the server", 1, true), err)
end
raises(Input.IsKeyPressed, "W")
assert(input.isKeyDown("W") == false) -- there are no keys here
raises(Network.FireServer, "x")
raises(Network.OnServerEvent, "x", print)
assert(select(2, pcall(Network.OnServerEvent, "x", print)):find(
    "listen with Network.OnClientEvent or Network.On (Roblox has the two names the other way round)", 1, true))
local on = Network.On("x", print)
assert(on.Connected)
on:Disconnect()
assert(not on.Connected)
raises(Network.Invoke, "x")
raises(UI.Show, {})
raises(World.SpawnLocal, "Crate")
raises(function() return camera.Forward end)
raises(function() return Input.Pressed end)
print("done")
