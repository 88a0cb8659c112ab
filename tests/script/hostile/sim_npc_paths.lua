-- world: bounded
-- NPCs that are sent somewhere else in every tick, to places that cannot be reached.
local npcs = {}
local turn = 0
function onUpdate()
    for _ = 1, 10 do
        if #npcs < 200 then
            npcs[#npcs + 1] = Npc.Spawn(Vector3.new(#npcs % 20 - 10, 1, #npcs // 20 - 5))
        end
    end
    turn = turn + 1
    for i, npc in ipairs(npcs) do
        if npc:IsValid() then
            Npc.MoveTo(npc, Vector3.new((i * 37 + turn * 11) % 60 - 30, 40, (i * 53) % 60 - 30))
        end
    end
end
