-- side: server
-- ticks: 120
-- Players, their characters, teams, leaderstats, death and spawning.
function onStart()
    local list = Players.GetPlayers()
    assert(#list == 1)
    local player = list[1]
    assert(Players.GetPlayerByName(player.Name) == player)
    assert(Players.GetPlayerByName("nobody") == nil)
    assert(player.Character and player.Character.Type == "Player")
    assert(player.Character.Player == player and player.Character.Owner == player)
    player.Team = "red"
    assert(player.Team == "red")
    assert(player.leaderstats.Coins == nil)
    player.leaderstats.Coins = 5
    player.leaderstats.Coins = player.leaderstats.Coins + 2
    assert(player.leaderstats.Coins == 7)

    local died = 0
    player.Died:Connect(function() died = died + 1 end)
    local spawned
    player.Spawned:Connect(function(character) spawned = character end)
    player.Character:TakeDamage(30)
    assert(player.Character.Health == 70)
    KillPlayer(player)
    assert(player.Character.Health == 0)
    task.wait(0.1)
    assert(died == 1, died)
    player:Spawn(Vector3.new(0, 5, 0))
    task.wait(0.1)
    assert(player.Character.Health == 100 and spawned == player.Character)
    KillPlayer(player)
    player:Spawn()
    assert(player.Character.Health == 100 and player.Character.Team == "red")
    assert(player.Character.Position == World.Find("RedBase").Position, "where the team begins")
    player.Team = ""
    player:Spawn()
    assert(player.Character.Position == World.Find("Start").Position, "where everybody begins")
    print("done")
end
