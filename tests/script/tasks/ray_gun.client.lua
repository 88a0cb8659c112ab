-- The trigger: aims at where the target stands, and shows the hits.
local hits = 0

Network.On("Hit", function(position, health)
    hits = hits + 1
    assert(position.Z < -7 and health == 100 - 25 * hits, health)
    if hits == 2 then
        print("done")
    end
end)

function onStart()
    task.wait(0.2)
    for _, pause in ipairs({0.1, 0.3, 0.1}) do
        Network.FireServer("Shoot", Vector3.new(0, 0, -1))
        task.wait(pause)
    end
end
