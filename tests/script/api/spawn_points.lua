-- side: both
-- Spawn points are found by name; they can be read and not be changed.
local start, base = World.Find("Start"), World.Find("RedBase")
assert(start and start.Name == "Start" and start.Type == "Spawn" and start:IsValid())
assert(start.Position == Vector3.zero and start.Team == "" and World.Find("Start") == start)
assert(base.Position == Vector3.new(-12, 0, -12) and base.Team == "red")
assert(base.Rotation:FuzzyEq(Vector3.new(0, 90, 0), 0.01), tostring(base.Rotation))
assert(base.Velocity == Vector3.zero and base.Health == 0 and base.Owner == nil)
assert(World.Find("start") == nil and World.Find("") == nil)
assert(base:GetAttribute("team") == nil and not base:HasTag("x"))
base.mine = 1
assert(World.Find("RedBase").mine == 1)
local body = Players.GetPlayers()[1] and Players.GetPlayers()[1].Character
assert(body == nil or body.Team == Players.GetPlayers()[1].Team)
assert(World.Find("Door").Team == "")
if not Players.LocalPlayer then
    for _, change in ipairs({function() base.Position = Vector3.one end,
                             function() base:SetVelocity(Vector3.one) end,
                             function() base:SetRotation(Vector3.one) end,
                             function() base:MoveTo(Vector3.one, 1) end,
                             function() base:SetAttribute("a", 1) end,
                             function() base:AddTag("a") end,
                             function() base:TakeDamage(1) end,
                             function() base:SetSolid(false) end,
                             function() base:Destroy() end,
                             function() base.Team = "blue" end}) do
        assert(not pcall(change))
    end
    for _, change in ipairs({function() base:SetLight{} end, function() base:SetEmitter("fire") end,
                             function() base:SetTrail{} end, function() base.Color = "#ff0000" end}) do
        local ok, message = pcall(change)
        assert(not ok and message:find("this is a spawn point", 1, true), message)
    end
end
assert(base:IsValid() and base.Position == Vector3.new(-12, 0, -12))
print("done")
