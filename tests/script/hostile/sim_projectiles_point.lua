-- world: limit
-- Fires from one point until the limit, with shots that hang in the air and never end.
local at = Vector3.new(0, 30, 0)
function onUpdate()
    for _ = 1, 400 do
        Projectile.Fire({position = at, velocity = Vector3.new(0, 0, 0)})
    end
end
