local entity = Npc.Spawn(Vector3.new(5, 1, 5))
local turn = 0
function onUpdate()
    turn = turn + 1
    pcall(function()
        for i = 1, 10000 do
            World.SetSky({hour = (turn + i) % 24})
            entity:SetLight({brightness = (turn + i) % 10})
            Effect.Burst("explosion", entity.Position, {size = 10})
        end
    end)
end
