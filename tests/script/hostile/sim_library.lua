-- world: budget
-- Boxes, names and rays with lists, as large as they may be and as often as a tick allows; and with everything that does not fit.
local at = Vector3.new(0, 30, 0)
local parts = {}
local odd = {0, -1, 0 / 0, 1 / 0, math.maxinteger, math.mininteger, "x", "\0", "\xff", true, {}, print, at,
    Vector3.one * 1e30 * 1e30, Vector3.new(1e30, 0, 0), {ignore = {1}}, {ignore = {}}, setmetatable({}, {__len = error})}
function onUpdate()
    if #parts < 1500 then
        for _ = 1, 100 do
            local ok, part = pcall(World.Spawn, "Ghost", at)
            parts[#parts + 1] = ok and part or at
        end
        for i = 1, #odd do
            for j = 1, #odd do
                pcall(World.GetInBox, odd[i], odd[j], odd[j])
                pcall(World.FindAll, odd[i])
                pcall(World.KindOf, odd[i])
                pcall(World.Raycast, at, Vector3.one, 10, odd[i])
                pcall(World.Raycast, at, Vector3.one, 10, {ignore = odd[i]})
                pcall(World.Raycast, at, Vector3.one, 10, {ignore = {odd[i], odd[j]}})
                pcall(Players.GetPlayerById, odd[i])
                pcall(typeof, odd[i])
                pcall(Random.new(1).Shuffle, odd[i], odd[j])
            end
        end
        return
    end
    local ignore = table.move(parts, 1, 64, 1, {})
    while true do
        World.GetInBox(Vector3.new(-1024, -1024, -1024), Vector3.new(1024, 1024, 1024))
        World.FindAll("Ghost")
        World.Raycast(Vector3.new(-2, 30, 0), Vector3.new(1, 0.001, 0), 4096, {ignore = ignore})
        Random.new(1):Shuffle(parts)
    end
end
