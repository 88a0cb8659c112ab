-- side: both
-- FindAll, GetInBox, KindOf, rays through several things, GetPlayerById, typeof, Shuffle.
local function raises(part, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(part, 1, true), err)
end

local function names(list)
    local out = {}
    for i, entity in ipairs(list) do
        out[i] = entity.Name
    end
    return table.concat(out, " ")
end

function onStart()
    local door, wall, zone = World.Find("Door"), World.Find("Wall"), World.Find("Zone")
    assert(#World.FindAll("Door") == 1 and World.FindAll("Door")[1] == door)
    assert(#World.FindAll("nothing") == 0 and #World.FindAll("\xff") == 0 and #World:FindAll("Wall") == 1)

    -- Corners in any order; what touches the box counts.
    assert(names(World.GetInBox(Vector3.new(-1, 0, 5), Vector3.new(5, 3, 7), "Part")) == "Door Button")
    assert(names(World.GetInBox(Vector3.new(5, 3, 7), Vector3.new(-1, 0, 5), "Part")) == "Door Button")
    assert(names(World.GetInBox(Vector3.new(-8, 1, 0), Vector3.new(-8, 1, 0))) == "Zone")
    assert(#World.GetInBox(Vector3.new(100, 100, 100), Vector3.new(101, 101, 101)) == 0)
    assert(#World.GetInBox(Vector3.new(-1024, -1024, -1024), Vector3.new(1024, 1024, 1024), "Npc") == 0)
    raises("at most 2048 metres", World.GetInBox, Vector3.zero, Vector3.new(2049, 0, 0))
    raises("must be finite", World.GetInBox, Vector3.zero, Vector3.one * 1e30 * 1e30)
    raises("cannot be \"Door\": it is Player, Npc,", World.GetInBox, Vector3.zero, Vector3.one, "Door")
    raises("there is no type", World.GetInBox, Vector3.zero, Vector3.one, "Spawn")
    raises("to", World.GetInBox, Vector3.zero)

    assert(World.KindOf(door) == "Part" and World.KindOf(Players.GetPlayers()[1].Character) == "Player")
    assert(World.KindOf(Vector3.new(0, 50, 0)) == "air" and World.KindOf(0) == "air")
    assert(World.KindOf(Vector3.new(10, -1, 10)) == World.KindOf(1) and World.KindOf(1) ~= "air")
    raises("there is no voxel kind", World.KindOf, -1)
    raises("there is no voxel kind", World.KindOf, math.maxinteger)
    raises("what", World.KindOf, {})

    -- From behind the door, at the button's height, to the wall.
    local from, to = Vector3.new(0, 2, 20), Vector3.new(0, 0, -1)
    local me = Players.GetPlayers()[1].Character
    assert(World.Raycast(from, to, 100).Entity == door)
    assert(World.Raycast(from, to, 100, door).Entity ~= door, "one entity, as before")
    assert(World.Raycast(from, to, 100, {ignore = {door, me}}).Entity == wall)
    assert(World.Raycast(from, to, 100, {ignore = {me, door, zone, wall}}) == nil)
    assert(World.Raycast(from, to, 100, {ignore = {}}).Entity == door)
    assert(World.Raycast(from, to, 100, {}).Entity == door)
    local many = {}
    for i = 1, 64 do
        many[i] = i == 64 and door or zone
    end
    assert(World.Raycast(from, to, 100, {ignore = many}).Entity ~= door)
    many[65] = door
    raises("at most 64", World.Raycast, from, to, 100, {ignore = many})
    raises("a list of entities", World.Raycast, from, to, 100, {ignore = {door, "Wall"}})
    raises("ignore must be", World.Raycast, from, to, 100, {ignore = door})
    raises("did you mean \"ignore\"", World.Raycast, from, to, 100, {ignored = {door}})
    raises("options have names", World.Raycast, from, to, 100, {door, wall})
    raises("ignore", World.Raycast, from, to, 100, "door")

    local player = Players.GetPlayers()[1]
    assert(Players.GetPlayerById(player.UserId) == player and Players.GetPlayerById(0) == nil)
    assert(Players.GetPlayerById(-1) == nil and Players.GetPlayerById(math.mininteger) == nil)
    raises("userId", Players.GetPlayerById, "1")

    assert(typeof(Vector3.zero) == "Vector3" and typeof(door) == "Entity" and typeof(player) == "Player")
    assert(typeof(Signal.new()) == "Signal" and typeof(Random.new(1)) == "Random")
    assert(typeof(nil) == "nil" and typeof(1) == "number" and typeof({}) == "table" and typeof(print) == "function")
    assert(typeof(setmetatable({}, {__name = "Player"})) == "table", "a table stays a table")
    raises("value", typeof)

    local list = {}
    for i = 1, 50 do
        list[i] = i
    end
    local same = Random.new(5):Shuffle(list)
    assert(same == list and #list == 50)
    local text, seen = table.concat(list, " "), {}
    for _, value in ipairs(list) do
        assert(not seen[value])
        seen[value] = true
    end
    local again = {}
    for i = 1, 50 do
        again[i] = i
    end
    assert(table.concat(Random.new(5):Shuffle(again), " ") == text, "the same for the same seed")
    assert(text:sub(1, 11) ~= "1 2 3 4 5 6")
    local first, random = {0, 0, 0}, Random.new(9)
    for _ = 1, 3000 do
        local value = random:Shuffle({1, 2, 3})[1]
        first[value] = first[value] + 1
    end
    assert(first[1] > 900 and first[2] > 900 and first[3] > 900, "each is first as often")
    assert(#random:Shuffle({}) == 0 and random:Shuffle({7})[1] == 7)
    raises("list", random.Shuffle, random, "abc")
    print("done")
end
