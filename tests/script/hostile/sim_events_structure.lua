-- world: bounded
-- Pieces that are built when one goes and taken away when one was built, and all signals with wrong arguments.
local cell = 0
local function build()
    cell = (cell + 1) % 20
    pcall(Structure.Place, 0, Vector3.new(cell - 10, 0, -10))
end
Structure.Placed:Connect(function(piece)
    if piece:IsValid() then
        Structure.Remove(piece)
    end
    build()
end)
Structure.Removed:Connect(function(piece)
    assert(not pcall(Structure.Remove, piece))
    build()
    build()
end)
function onStart()
    build()
    for _, signal in ipairs({Structure.Placed, Structure.Removed, Projectile.Hit, World.VoxelChanged}) do
        assert(not pcall(signal.Connect, signal, 0 / 0))
        assert(not pcall(signal.Connect, signal, nil))
        assert(not pcall(signal.Connect, World, print))
    end
    assert(not pcall(function() World.VoxelChanged = 1 end))
end
