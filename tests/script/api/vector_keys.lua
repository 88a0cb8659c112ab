-- side: both
-- A Vector3 as a key goes by its numbers.
local t = {}
t[Vector3.new(1, 2, 3)] = "a"
assert(t[Vector3.new(1, 2, 3)] == "a" and t[Vector3.new(3, 2, 1)] == nil)
assert(rawget(t, Vector3.new(0.5, 1, 1.5) * 2) == "a")
t[Vector3.new(1, 2, 3)] = "b" -- the same key
local count = 0
for key, value in pairs(t) do
    count = count + 1
    assert(key == Vector3.new(1, 2, 3) and value == "b")
end
assert(count == 1 and next(t, Vector3.new(1, 2, 3)) == nil)
t[Vector3.new(1, 2, 3)] = nil
assert(next(t) == nil)

-- -0 is 0, as in comparisons; one NaN is like another, so that such a key is found again.
local nan = 0 / 0
t[Vector3.new(0, 1, 0)] = 1
assert(t[Vector3.new(-0.0, 1, -0.0)] == 1)
t[Vector3.zero * nan] = 2
assert(t[Vector3.one * -nan] == 2 and t[Vector3.new(1, 0, 0) * nan] == 2)
t[Vector3.one / 0] = 3
assert(t[Vector3.one / 0] == 3 and t[-Vector3.one / 0] == nil)

-- A grid: thousands, removed and found again while the collector runs.
local grid, order = {}, {}
for x = -10, 10 do
    for z = -10, 10 do
        grid[Vector3.new(x, 0, z)] = x * 100 + z
    end
end
for x = -10, 10 do
    for z = -10, 10 do
        assert(grid[Vector3.new(x, 0, z)] == x * 100 + z)
        if (x + z) % 2 == 0 then
            grid[Vector3.new(x, 0, z)] = nil
        end
    end
end
local sum = 0
for key, value in pairs(grid) do
    assert(value == key.X * 100 + key.Z)
    sum = sum + 1
    if sum <= 4 then
        order[sum] = tostring(key)
    end
end
assert(sum == 220)
-- The order of pairs is the same on every machine.
assert(table.concat(order, "; ") == "-4, 0, -1; -6, 0, -3; -10, 0, -5; -6, 0, 7", table.concat(order, "; "))

-- Everything else goes by itself.
local a, b = Random.new(1), Random.new(1)
local own = {[a] = 1}
assert(own[b] == nil and own[a] == 1)
a:NextNumber()
assert(own[a] == 1)
own[{}] = 2
assert(own[{}] == nil)
print("done")
