-- The rules of the course: where a player starts again, how long a run took, and the best times, which are
-- still there after the world restarts.
local Format = require("ReplicatedStorage/Format")

local BOARD_ROWS = 5
-- Keys are ids: a name can be somebody else's tomorrow.
local best = DataStore.GetOrderedDataStore("best times") -- UserId → milliseconds
local names = DataStore.GetDataStore("names") -- UserId → name
local began = {} -- by player: when the run began
local start = World.Find("Start").Position + Vector3.new(0, 0.5, 0)

local function checkpointOf(player)
    for _, pad in ipairs(World.GetTagged("checkpoint")) do
        if pad:GetAttribute("stage") == player.leaderstats.Stage then
            return pad
        end
    end
    return nil
end

local function onSpawned(player, character)
    local pad = checkpointOf(player)
    if pad then
        character:SetPosition(pad.Position + Vector3.new(0, 0.2, 0))
    else
        began[player.UserId] = World.Time() -- at the start: the time starts again
    end
end

local function welcome(player)
    player.leaderstats.Stage = 0
    began[player.UserId] = World.Time()
    player.Spawned:Connect(function(character)
        onSpawned(player, character)
    end)
    print(player.Name .. " is here")
end

-- The best times, for the board on the screen.
local function board()
    local rows = {}
    for _, entry in ipairs(best:GetSortedAsync(true, BOARD_ROWS)) do
        table.insert(rows, {name = names:GetAsync(entry.key) or "?", seconds = entry.value / 1000})
    end
    return rows
end

local function onFinish(player)
    if player.leaderstats.Stage == 0 then
        return -- did not touch any checkpoint
    end
    local seconds = World.Time() - began[player.UserId]
    player.leaderstats.Stage = 0
    Chat.Send(player.Name .. " made it in " .. Format.seconds(seconds))
    local time = math.floor(seconds * 1000)
    local id = tostring(player.UserId)
    names:SetAsync(id, player.Name)
    best:UpdateAsync(id, function(old)
        if old == nil or time < old then
            return time
        end
        return nil -- keeps the old time, which was better
    end)
    Network.Broadcast("Board", board())
    task.wait(3)
    player:Spawn(start)
end

Network.OnInvoke("Board", board)

World.Find("Finish").TriggerEntered:Connect(function(other)
    if other.Player then
        onFinish(other.Player)
    end
end)

Players.PlayerAdded:Connect(welcome)
Players.PlayerRemoving:Connect(function(player)
    began[player.UserId] = nil
end)
for _, player in ipairs(Players.GetPlayers()) do
    welcome(player) -- players who joined before this script started
end
