-- A pool of crates: they are hidden and used again instead of being made and destroyed.
local HIDDEN = Vector3.new(0, -100, 0)
local Pool = {}
Pool.__index = Pool

function Pool.new(prefab, count)
    local pool = setmetatable({free = {}, made = 0, prefab = prefab}, Pool)
    for _ = 1, count do
        pool:give(pool:make())
    end
    return pool
end

function Pool:make()
    self.made = self.made + 1
    return World.Spawn(self.prefab, HIDDEN)
end

function Pool:take(position)
    local thing = table.remove(self.free) or self:make()
    thing.Position = position
    return thing
end

function Pool:give(thing)
    thing.Position = HIDDEN
    table.insert(self.free, thing)
end

function onStart()
    local crates = Pool.new("Crate", 3)
    local ids = {}
    for i = 1, 10 do
        local crate = crates:take(Vector3.new(i, 2, -12))
        ids[crate.Id] = true
        assert(#World.GetInRadius(Vector3.new(i, 2, -12), 0.4, "Part") == 1)
        task.wait(0.05)
        crates:give(crate)
    end
    assert(crates.made == 3 and #crates.free == 3, crates.made)
    local used = 0
    for _ in pairs(ids) do
        used = used + 1
    end
    assert(used == 1, used)
    print("done")
end
