-- world: bounded
-- Buries a crowd again and again: everybody looks for a free place.
local npcs = 0
local turn = 0
function onUpdate()
    if npcs < 200 then
        for _ = 1, 20 do
            pcall(Npc.Spawn, Vector3.new(npcs % 15 - 7, 1, npcs // 15 - 7))
            npcs = npcs + 1
        end
        return
    end
    turn = turn + 1
    local height = 1 + (turn * 16) % 200
    pcall(World.FillBox, Vector3.new(-16, height, -16), Vector3.new(15, height + 31, 15), 1)
end
