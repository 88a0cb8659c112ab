-- side: server
-- Spawning, finding, moving, destroying; attributes and tags; voxels and rays.
function onStart()
    local crate = World.Spawn("Crate", Vector3.new(3, 5, 3))
    assert(crate:IsValid() and crate.Type == "Part")
    assert(crate.Position == Vector3.new(3, 5, 3))
    crate.Position = Vector3.new(4, 5, 4)
    assert(crate.Position == Vector3.new(4, 5, 4), "a setter reads back at once")
    crate.SetPosition(Vector3.new(5, 5, 5)) -- with a dot
    crate:SetPosition(Vector3.new(6, 5, 6)) -- and with a colon
    assert(crate.Position == Vector3.new(6, 5, 6))
    crate.Rotation = Vector3.new(0, 90, 0)
    assert(crate.Rotation:FuzzyEq(Vector3.new(0, 90, 0), 0.01), tostring(crate.Rotation))

    crate:SetAttribute("color", "red")
    crate:SetAttribute("count", 3, {persistent = true})
    crate:SetAttribute("secret", Vector3.one, {private = true})
    assert(crate:GetAttribute("color") == "red" and crate:GetAttribute("count") == 3)
    assert(crate:GetAttribute("secret") == Vector3.one and crate:GetAttribute("none") == nil)
    -- Who may see it: a word replaces what was said before, and no word leaves it.
    crate:SetAttribute("secret", 1, {visibility = "owner", persistent = true})
    crate:SetAttribute("secret", 2)
    crate:SetAttribute("secret", 3, {visibility = "all"})
    crate:SetAttribute("secret", 4, {visibility = "server", private = true})
    assert(crate:GetAttribute("secret") == 4)
    local ok, message = pcall(crate.SetAttribute, crate, "secret", 5, {visibility = "me"})
    assert(not ok and message:find('visibility cannot be "me": it is server, owner or all', 1, true), message)
    ok, message = pcall(crate.SetAttribute, crate, "secret", 5, {visibility = 7})
    assert(not ok and message:find("visibility must be server, owner or all, got number", 1, true), message)
    ok, message = pcall(crate.SetAttribute, crate, "secret", 5, {visibility = "all", private = true})
    assert(not ok and message:find("leave private out", 1, true), message)
    assert(crate:GetAttribute("secret") == 4, "a refused call changes nothing")
    crate:SetAttribute("color", nil)
    assert(crate:GetAttribute("color") == nil)
    assert(not pcall(crate.SetAttribute, crate, "bad", {}))

    crate:AddTag("box")
    assert(crate:HasTag("box") and not crate:HasTag("ball"))
    assert(World.GetTagged("box")[1] == crate)
    crate:RemoveTag("box")
    assert(#World.GetTagged("box") == 0)

    crate.mine = "a field of my own"
    local seen = {}
    seen[crate] = true
    for _, found in ipairs(World.GetInRadius(Vector3.new(6, 5, 6), 2, "Part")) do
        if seen[found] then
            assert(found.mine == "a field of my own", "one object for one entity")
            seen.again = true
        end
    end
    assert(seen.again)

    local door = World.Find("Door")
    assert(door and door.Name == "Door" and World.Find("nothing of that name") == nil)
    assert(World.Find("Door") == door and World:Find("Door") == door)

    local hit = World.Raycast(Vector3.new(6, 9, 6), Vector3.new(0, -1, 0), 20)
    assert(hit and hit.Entity == crate and hit.Normal == Vector3.new(0, 1, 0))
    hit = World.Raycast(Vector3.new(6, 9, 6), Vector3.new(0, -20, 0), nil, crate)
    assert(hit and hit.Entity == nil and hit.Voxel, "the ground below, with the crate ignored")
    assert(World.Raycast(Vector3.new(6, 9, 6), Vector3.new(0, 1, 0), 20) == nil)

    local at = Vector3.new(20, 10, 20)
    World.SetVoxel(at, 3)
    assert(World.GetVoxel(at) == 3)
    World.FillBox(at, at + Vector3.new(2, 2, 2), 4)
    assert(World.GetVoxel(at + Vector3.one) == 4)
    World.FillSphere(at, 3, 0)
    assert(World.GetVoxel(at) == 0)
    assert(not pcall(World.SetVoxel, at, 5000))
    assert(not pcall(World.FillBox, at, at + Vector3.new(500, 0, 0), 1))

    local ok, err = pcall(World.Spawn, "Crat")
    assert(not ok and err:find('did you mean "Crate"', 1, true), err)

    crate:Destroy()
    task.wait(0.1)
    assert(not crate:IsValid())
    ok, err = pcall(function() return crate.Position end)
    assert(not ok and err:find("gone", 1, true), err)
    assert(World.Time() > 0 and World.Tick() > 1)
    print("done")
end
