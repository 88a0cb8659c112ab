-- side: server
-- ticks: 400
-- What happens in the world reaches scripts: damage, landings, hits, voxels, structures.
local function check(got, want)
    assert(got == want, tostring(got) .. " instead of " .. tostring(want))
end

local function damage()
    local npc = Npc.Spawn(Vector3.new(-10, 1, 0))
    local log = {}
    npc.Damaged:Connect(function(amount, cause)
        log[#log + 1] = amount .. " by " .. (cause and cause.Name or "nobody")
    end)
    npc.Died:Connect(function() log[#log + 1] = "died" end)
    local door = World.Find("Door")
    task.wait(0.1)
    npc:TakeDamage(30, door)
    npc:TakeDamage(-10)
    npc:TakeDamage(1000)
    npc:TakeDamage(1) -- it is dead: nothing happens
    check(#log, 0)
    task.wait(0.1)
    check(table.concat(log, ", "), "30.0 by Door, -10.0 by nobody, 1000.0 by nobody, died")
    npc:Destroy()
end

local function landing()
    local npc = Npc.Spawn(Vector3.new(-10, 6, 3))
    local count, speed = 0, 0
    npc.Landed:Connect(function(value) count, speed = count + 1, value end)
    task.wait(2)
    check(count, 1)
    assert(speed > 5 and speed < 20, speed)
    npc:Destroy()
end

local function hits()
    local target = Npc.Spawn(Vector3.new(-10, 1, 0))
    local log = {}
    local position, normal
    Projectile.Hit:Connect(function(projectile, other, at)
        log[#log + 1] = "any " .. tostring(projectile:IsValid()) .. (other == target and " target" or " terrain")
    end)
    target.Hit:Connect(function(other, at, away, shooter)
        log[#log + 1] = "target of " .. (shooter and shooter.Name or "nobody")
    end)
    task.wait(0.1)
    local bullet = Projectile.Fire({position = Vector3.new(-10, 1.6, -8), velocity = Vector3.new(0, 0, 40),
        damage = 25, shooter = World.Find("Guard")})
    bullet.Hit:Connect(function(other, at, away)
        log[#log + 1] = "own"
        assert(other == target)
        position, normal = at, away
    end)
    task.wait(0.5)
    check(table.concat(log, ", "), "any false target, own, target of nobody")
    assert(math.abs(position.X + 10) < 1 and position.Z < 0.1 and normal.Z < -0.5, tostring(position))
    -- The ground below.
    log = {}
    local stone = World.Spawn("Bullet", Vector3.new(12, 4, 12))
    stone.Hit:Connect(function(other, at, away)
        log[#log + 1] = "ground"
        assert(other == nil and math.abs(at.Y) < 0.2 and away == Vector3.yAxis, tostring(at) .. tostring(away))
    end)
    stone.Velocity = Vector3.new(0, -20, 0)
    task.wait(0.5)
    check(table.concat(log, ", "), "any false terrain, ground")
    target:Destroy()
end

local function voxels()
    local log = {}
    World.VoxelChanged:Connect(function(at, before, now, player)
        assert(player == nil)
        log[#log + 1] = at.X .. " " .. at.Y .. " " .. at.Z .. ": " .. before .. " to " .. now
    end)
    World.VoxelsChanged:Connect(function(from, to, kind, player)
        assert(player == nil)
        log[#log + 1] = "box of " .. (to.X - from.X + 1) * (to.Y - from.Y + 1) * (to.Z - from.Z + 1) ..
            " to " .. kind
    end)
    local at = Vector3.new(20, 10, 20)
    World.SetVoxel(at + Vector3.new(0.5, 0.5, 0.5), 2)
    World.SetVoxel(at, 2) -- it is so already
    check(#log, 0)
    task.wait()
    check(table.concat(log, ", "), "20.0 10.0 20.0: 0 to 2")
    log = {}
    World.FillBox(at, at + Vector3.new(1, 0, 1), 1)
    task.wait()
    check(table.concat(log, ", "), "20.0 10.0 20.0: 2 to 1, 21.0 10.0 20.0: 0 to 1, " ..
        "20.0 10.0 21.0: 0 to 1, 21.0 10.0 21.0: 0 to 1")
    log = {}
    World.FillBox(at, at + Vector3.new(30, 30, 30), 3) -- 29,791 at once
    World.FillSphere(at, 1, 0)
    World.FillSphere(at, 8, 0)
    task.wait()
    check(log[1], "box of 29791.0 to 3")
    check(log[2], "20.0 10.0 20.0: 3 to 0")
    check(log[#log], "box of 4913.0 to 0")
    assert(#log < 64)
end

local function structures()
    local log = {}
    Structure.Placed:Connect(function(piece, player)
        log[#log + 1] = "placed " .. piece.Type .. " by " .. (player and player.Name or "nobody")
    end)
    Structure.Removed:Connect(function(piece, reason, at)
        assert(not piece:IsValid() and at.Y > 0)
        log[#log + 1] = reason
    end)
    local player = Players.GetPlayers()[1]
    local low = Structure.Place(0, Vector3.new(-20, 0, -20))
    local high = Structure.Place(0, Vector3.new(-20, 1, -20), 0, player)
    local other = Structure.Place(0, Vector3.new(-24, 0, -20))
    task.wait(0.1)
    check(table.concat(log, ", "), "placed Structure by nobody, placed Structure by " .. player.Name ..
        ", placed Structure by nobody")
    log = {}
    other:TakeDamage(1000)
    Structure.Remove(low)
    task.wait(1)
    table.sort(log)
    check(table.concat(log, ", "), "Collapsed, Destroyed, Removed")
    assert(not high:IsValid())
end

function onStart()
    damage()
    landing()
    hits()
    voxels()
    structures()
    print("done")
end
