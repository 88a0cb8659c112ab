-- world: bounded
-- Voxels everywhere, single and in boxes, in every tick: they appear and are gone again.
local turn = 0
function onUpdate()
    turn = turn + 1
    for i = 1, 500 do
        pcall(World.SetVoxel, Vector3.new((i * 32) % 512 - 256, 5 + turn % 9, (i // 16) * 32 - 256), turn % 2)
    end
    local a = Vector3.new(-16, 1, -16)
    pcall(World.FillBox, a, a + Vector3.new(31, 31, 31), turn % 2)
end
