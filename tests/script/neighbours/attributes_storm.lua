local entity = Npc.Spawn(Vector3.new(5, 1, 5))
local turn = 0
function onUpdate()
    turn = turn + 1
    pcall(function()
        for i = 1, 10000 do entity:SetAttribute("name" .. i % 64, string.rep("v", 100) .. turn) end
    end)
end
