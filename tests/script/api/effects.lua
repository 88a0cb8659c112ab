-- side: both
-- Effects by name, their options, and what stays with an entity.
local function fails(message, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end
local at = Vector3.new(1, 2, 3)
for _, name in ipairs({"sparkle", "smoke", "fire", "explosion", "dust", "splash", "confetti", "heal", "magic",
    "snow"}) do
    Effect.Burst(name, at)
end
Effect.Burst("fire", at, {colour = "#ff8800", size = 2})
Effect.Burst("fire", at, {color = "#FF8800"})
Effect.Beam(at, at * 2, {colour = "#00ff00", width = 0.5, seconds = 1})
fails('Effect.Burst: argument 1 (effect) cannot be "expolsion"', Effect.Burst, "expolsion", at)
fails("did you mean explosion?", Effect.Burst, "expolsion", at)
fails("Effect.Burst: size must be 0.1 to 10", Effect.Burst, "fire", at, {size = 1000})
fails("Effect.Burst: size must be finite", Effect.Burst, "fire", at, {size = 1 / 0})
fails("Effect.Burst: colour must be a text like", Effect.Burst, "fire", at, {colour = "orange"})
fails("must be finite", Effect.Burst, "fire", at * 1e38 * 1e38)
fails("must be finite", Effect.Beam, at, at * 1e38 * 1e38)
fails("Effect.Beam: width must be 0.01 to 2", Effect.Beam, at, at, {width = 50})
fails("Effect.Beam: seconds must be 0.05 to 10", Effect.Beam, at, at, {seconds = 0})

function onStart()
    local door = World.Find("Door")
    door:SetLight({})
    door:SetLight({colour = "#ffcc66", brightness = 2, range = 12})
    door:SetTrail({width = 0.5, seconds = 2})
    door:SetEmitter("smoke", {size = 2, rate = 0.5, colour = "#888888"})
    fails("Entity.SetLight: range must be 1 to 32", door.SetLight, door, {range = 100})
    fails("Entity.SetTrail: seconds must be 0.1 to 5", door.SetTrail, door, {seconds = 60})
    fails("Entity.SetEmitter: rate must be 0.1 to 4", door.SetEmitter, door, "smoke", {rate = 1e9})
    fails('cannot be "smok"', door.SetEmitter, door, "smok")
    fails("names that begin with $ are Sandlot's own", door.SetAttribute, door, "$light", "0 0 0 0")
    door:SetLight()
    door:SetTrail(nil)
    door:SetEmitter()
    -- One that is gone.
    local made = Players.LocalPlayer and World.SpawnLocal("Crate", at) or World.Spawn("Crate", at)
    made:SetLight({})
    made:Destroy()
    task.wait(0.1)
    fails("gone", made.SetLight, made, {})
    fails("gone", made.SetEmitter, made, "fire")
    print("done")
end
