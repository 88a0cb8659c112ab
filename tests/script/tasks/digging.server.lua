-- Miners get a point for each voxel, and the ground grows back.
-- at 20: dig 3 -1 3
-- at 25: dig 4 -1 3
-- ticks: 150
local REGROW = 1
local points = {}

World.VoxelChanged:Connect(function(position, before, now, player)
    if player and before ~= 0 and now == 0 then
        points[player] = (points[player] or 0) + 1
        task.wait(REGROW)
        World.SetVoxel(position, before)
    end
end)

function onStart()
    local at = Vector3.new(3, -1, 3)
    task.wait(0.7)
    assert(World.GetVoxel(at) == 0 and points[Players.GetPlayers()[1]] == 2)
    task.wait(1)
    assert(World.GetVoxel(at) == 1 and World.GetVoxel(at + Vector3.xAxis) == 1)
    assert(points[Players.GetPlayers()[1]] == 2, "a script's voxel is nobody's")
    print("done")
end
