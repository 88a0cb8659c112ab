-- Fire aims where the camera looks; here once at the target and once at the ground.
-- at 30: key Fire
local shots = 0

Input.Pressed:Connect(function(key)
    if key == "Fire" then
        shots = shots + 1
        Network.FireServer("Fireball", Vector3.new(0, -0.05, -1))
        Network.FireServer("Fireball", Vector3.new(0, -1.62, 4))
    end
end)

function onStart()
    local seen = 0
    Projectile.Hit:Connect(function(ball, other, position)
        seen = seen + 1
    end)
    task.wait(2)
    assert(shots == 1 and seen == 2, seen)
    print("done")
end
