-- world: error
-- A handler of VoxelChanged that changes voxels, and one of VoxelsChanged that fills boxes.
local kind = 0
World.VoxelChanged:Connect(function(at)
    kind = 1 - kind
    for i = 1, 8 do
        World.SetVoxel(at + Vector3.new(0, i % 2, 0), kind)
    end
end)
World.VoxelsChanged:Connect(function(from)
    kind = 1 - kind
    World.FillBox(from, from + Vector3.new(9, 9, 9), kind)
end)
function onUpdate()
    World.SetVoxel(Vector3.new(1, 4, 1), World.Tick() % 2)
    World.FillBox(Vector3.new(0, 20, 0), Vector3.new(30, 50, 30), World.Tick() % 2)
end
