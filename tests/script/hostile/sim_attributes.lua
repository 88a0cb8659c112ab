-- world: bounded
-- Attributes and tags of many things, changed in every tick.
local parts = {}
local turn = 0
function onUpdate()
    turn = turn + 1
    for _ = 1, 50 do
        if #parts < 500 then
            local made, part = pcall(World.Spawn, "Block", Vector3.new(#parts % 30, 40, #parts // 30))
            if made then
                parts[#parts + 1] = part
            end
        end
    end
    for i, part in ipairs(parts) do
        part:SetAttribute("turn", turn)
        part:AddTag("t" .. i % 20)
        part:RemoveTag("t" .. (i + turn) % 20)
    end
end
