-- world: budget
-- Paints everything it can reach, every tick, as often as it can.
local things = {}
for i = 1, 400 do
    things[i] = World.Spawn("Block", Vector3.new(i % 20, 30 + i // 20, 0))
end
function onUpdate()
    local n = 0
    while true do
        n = n + 1
        local thing = things[1 + n % #things]
        thing.Color = string.format("#%06x", n % 0xffffff)
        thing:SetLook{glow = n % 2, transparency = 0.5, visible = n % 3 == 0, material = "neon"}
        pcall(function() thing.Texture = "assets/none" .. n end)
        pcall(function() thing.Glow = 0 / 0 end)
        pcall(function() thing.Color = ("#"):rep(100000) end)
    end
end
