-- side: both
-- Unknown members, options and words raise with the nearest name; fields of one's own on entities stay.
local function fails(message, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok, "should have failed: " .. message)
    assert(tostring(err):find(message, 1, true), "got: " .. tostring(err))
end

local door = World.Find("Door")
door.opened = true
door[1] = "one"
assert(door.opened and door[1] == "one" and door.closed == nil)

task.wait(0.1) -- until the player is here
local player = Players.GetPlayers()[1] or Players.LocalPlayer
fails("Player has no member Nam; did you mean Name?", function() return player.Nam end)
fails("Player has no member vip; keep values of your own in a table by player", function() player.vip = 1 end)
fails("Player has no member PlayerGui: write UI.Show(tree)", function() return player.PlayerGui end)
fails("Player has no member of type number", function() return player[1] end)
fails("Player has no member of type table", function() player[{}] = 1 end)
fails("Player has no member", function() return player[("x"):rep(100000)] end)
fails("Player.Name cannot be set", function() player.Name = "Eve" end)

fails("Signal has no member connect; did you mean Connect?", function() door.Destroyed:connect(print) end)
fails("Random has no member nextNumber; did you mean NextNumber?", function() Random.new(1).nextNumber() end)
fails("Vector3 has no member magnitude; did you mean Magnitude?", function() return Vector3.one.magnitude end)
fails("Vector3.X cannot be set: a Vector3 never changes", function() Vector3.one.X = 2 end)

fails("World.Gravity cannot be set: what the API gives cannot be changed", function() World.Gravity = 5 end)
fails("Players.LocalPlayer cannot be set: it is read only", function() Players.LocalPlayer = nil end)
fails("read-only", function() World.Find = nil end)
fails("cannot be set", function() World[{}] = 1 end)
fails("read-only", rawset, World, "Gravity", 5)
assert(World.Gravity == nil) -- to ask whether something is there does not fail

fails('argument 3 (type) cannot be "Palyer": it is Player, Npc', World.GetInRadius, Vector3.zero, 1, "Palyer")
fails("did you mean Player?", World.GetInRadius, Vector3.zero, 1, "Palyer")
fails("argument 3 (type) must be Player, Npc", World.GetInRadius, Vector3.zero, 1, 5)
fails("argument 3 (type) cannot be", World.GetInRadius, Vector3.zero, 1, ("x"):rep(100000))
fails("cannot be \"\"", World.GetInRadius, Vector3.zero, 1, "")
fails("must be a string, got number; write tostring(", World.Find, 5)
fails('Sound.Play has no option "vol"; the options are', Sound.Play, "boom", {vol = 1})
print("done")
