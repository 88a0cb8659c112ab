-- Runs on the server when the world starts. `sandlot script api` lists everything it can call.
local function welcome(player)
    print("Hello, " .. player.Name .. "!")
end

Players.PlayerAdded:Connect(welcome)
for _, player in ipairs(Players.GetPlayers()) do
    welcome(player) -- players who joined before this script started
end
