-- world: limit
-- Shots with every option wrong in turn, for shooters that are gone, and then a million of them.
local nan, inf = 0 / 0, 1 / 0
local up = Vector3.new(0, 1, 0)
local gone = World.Spawn("Block", Vector3.new(0, 50, 0))
gone:Destroy()
local wrong = {
    {}, {velocity = 5}, {velocity = up}, {velocity = Vector3.new(2000, 0, 0), position = up},
    {velocity = up, position = up, prefab = 5}, {velocity = up, position = up, prefab = "None"},
    {velocity = up, position = up, prefab = "Block"}, {velocity = up, position = up, prefab = ("x"):rep(1 << 16)},
    {velocity = up, position = up, damage = nan}, {velocity = up, position = up, damage = 1e300},
    {velocity = up, position = up, gravity = -inf}, {velocity = up, position = up, kind = -1},
    {velocity = up, position = up, kind = 65536}, {velocity = up, position = up, kind = nan},
    {velocity = up, position = Vector3.new(1e9, 0, 0)}, {velocity = up, position = up, shooter = 5},
    {velocity = up, position = up, shooter = {}}, {velocity = up, position = up, shooter = World},
}
for i, options in ipairs(wrong) do
    assert(not pcall(Projectile.Fire, options), tostring(i))
end
function onUpdate()
    pcall(Projectile.Fire, {velocity = up, position = up, shooter = gone})
    for i = 1, 300 do
        Projectile.Fire({velocity = Vector3.zero, position = Vector3.new(0, 40, 0), damage = 1e6})
    end
end
