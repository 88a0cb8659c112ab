-- Projectiles that are all in one place.
function onUpdate()
    pcall(function()
        for _ = 1, 1000 do
            Projectile.Fire{position = Vector3.new(0, 5, 0), velocity = Vector3.new(0, 0.01, 0),
                gravity = 0}
        end
    end)
end
