-- Sprint with a key that is held, a double tap to dash, and a menu key.
-- at 20: key Space
-- at 30: key Space
-- at 50: key E
local lastTap, dashes, menu, held = -1, 0, false, 0

Input.Pressed:Connect(function(key)
    if key == "Space" then
        if World.Time() - lastTap < 0.3 then
            dashes = dashes + 1
        end
        lastTap = World.Time()
    elseif key == "E" then
        menu = not menu
    end
end)

function onUpdate(self, dt)
    if Input.IsKeyPressed("Space") then
        held = held + dt
    end
end

function onStart()
    task.wait(1.5)
    assert(dashes == 1 and menu, dashes)
    assert(held > 0.1 and held < 0.3, held)
    print("done")
end
