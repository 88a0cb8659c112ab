-- Commands in the chat for admins: /tp, /heal, /kick.
-- at 10: join 2 bo
-- at 30: say 2 /kick player1
-- at 40: say 1 /tp bo
-- at 50: say 1 /heal bo 25
-- at 60: say 1 /fly
-- at 70: say 1 /kick bo rude words
local ADMINS = {[1] = true} -- by UserId
local commands = {}
local left, replies = nil, {}

function commands.tp(player, name)
    local other = Players.GetPlayerByName(name)
    player.Character:SetPosition(other.Character.Position)
end

function commands.heal(player, name, amount)
    Players.GetPlayerByName(name).Character:TakeDamage(-tonumber(amount))
end

function commands.kick(player, name, ...)
    Players.GetPlayerByName(name):Kick(table.concat({...}, " "))
end

Chat.Received:Connect(function(player, text)
    if text:sub(1, 1) ~= "/" or not ADMINS[player.UserId] then
        return
    end
    local words = string.split(text:sub(2), " ")
    local command = commands[table.remove(words, 1)]
    if command then
        command(player, table.unpack(words))
    else
        replies[#replies + 1] = "no such command"
    end
end)
Players.PlayerRemoving:Connect(function(player)
    left = player.Name
end)

function onStart()
    task.wait(0.3)
    local ada, bo = table.unpack(Players.GetPlayers())
    bo.Character:SetPosition(Vector3.new(9, 0, 9))
    bo.Character:TakeDamage(50)
    task.wait(1)
    assert((ada.Character.Position - Vector3.new(9, 0, 9)).Magnitude < 2, tostring(ada.Character.Position))
    assert(#replies == 1)
    task.wait(0.3)
    assert(left == "bo" and #Players.GetPlayers() == 1, left)
    print("done")
end
