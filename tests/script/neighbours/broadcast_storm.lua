-- Tells everybody as much as it can, every tick.
local text = string.rep("x", 60000)
function onUpdate()
    pcall(function()
        for _ = 1, 1000 do Network.Broadcast("storm", text) end
    end)
end
