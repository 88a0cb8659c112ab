-- Minds that all look for a way to a place that cannot be reached.
local minds = {}
pcall(function()
    for i = 1, 2000 do
        minds[i] = Npc.Spawn(Vector3.new(i % 20, 1, 3))
    end
end)
function onUpdate()
    for i, mind in ipairs(minds) do
        pcall(Npc.MoveTo, mind, Vector3.new(30 - i % 60, 40, 30))
    end
end
