-- side: both
-- How an entity looks: each property of look.def reads back what was written, on both sides, without a
-- warning on a client; what makes no sense raises and says what would.
local function says(words, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and err:find(words, 1, true), tostring(err) .. " does not say " .. words)
end

local function write(entity, name, value)
    entity[name] = value
end

local function check(door)
    assert(door.Color == "#a0a0a0" and door.Transparency == 0 and door.Material == "plain")
    assert(door.Visible == true and door.Glow == 0 and door.Texture == nil and door.Model == nil)
    door.Color = "#FF8800"
    assert(door.Color == "#ff8800" and door.Colour == "#ff8800")
    door.Colour = "#010203"
    assert(door.Color == "#010203")
    door.Transparency = 0.5
    assert(door.Transparency == 0.5)
    door.Transparency = 1 / 3
    assert(door.Transparency == 0.33, "kept in hundredths")
    door.Material = "wood"
    door.Visible = false
    door.Glow = 1
    door.Texture = "wall"
    assert(door.Texture == "assets/wall.png", door.Texture)
    door.Model = "assets/tree.glb"
    assert(door.Material == "wood" and not door.Visible and door.Glow == 1)
    assert(door.Model == "assets/tree.glb")
    door.Texture = nil
    assert(door.Texture == nil)
    door:SetLook{color = "#ffffff", glow = 0.25, visible = true, texture = "wall.png"}
    assert(door.Color == "#ffffff" and door.Glow == 0.25 and door.Visible)
    assert(door.Texture == "assets/wall.png" and door.Transparency == 0.33, "the rest stays")
    door:SetLook{colour = "#a0a0a0", transparency = 0, material = "plain", glow = 0, texture = "", model = ""}
    assert(door.Color == "#a0a0a0" and door.Texture == nil and door.Model == nil)
    door:SetLook{}
end

local function refuse(door)
    says('must be a colour such as "#33aa55"', write, door, "Color", "red")
    says('must be a colour', write, door, "Color", "#12345g")
    says("must be a string", write, door, "Color", 5)
    says("must be 0 to 1", write, door, "Transparency", 1.5)
    says("must be 0 to 1", write, door, "Glow", -1e300)
    says("must be finite", write, door, "Glow", 0 / 0)
    says("must be a number", write, door, "Transparency", "0.5")
    says("must be a boolean", write, door, "Visible", 1)
    says("did you mean wood?", write, door, "Material", "woood")
    says('no asset is called "wal"; did you mean "wall"?', write, door, "Texture", "wal")
    says('there are "assets/wall.png"', write, door, "Texture", "assets/tree.glb")
    says('there are "assets/tree.glb"', write, door, "Model", "nothing like it")
    says("did you mean \"glow\"?", door.SetLook, door, {glaw = 1})
    says("must be a number", door.SetLook, door, {glow = "much"})
    says("must be 0 to 1", door.SetLook, door, {glow = 2, visible = false})
    assert(door.Visible, "nothing of a wrong table is taken")
end

function onStart()
    local door = World.Find("Door")
    check(door)
    refuse(door)
    local own = World.SpawnLocal and Players.LocalPlayer and World.SpawnLocal("Crate", Vector3.new(0, 9, 0))
        or World.Spawn("Crate", Vector3.new(0, 9, 0))
    check(own)
    own:Destroy()
    task.wait(0.1)
    says("is gone", write, own, "Glow", 1)
    says("is gone", function() return own.Color end)
    print("done")
end
