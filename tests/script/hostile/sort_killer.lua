-- expect: budget
-- The adversary of McIlroy: answers so that the pivot is always nearly the smallest.
local gas, solid, candidate = 1 << 40, 0, 0
local value, t = {}, {}
for i = 1, 2000 do value[i] = gas t[i] = i end
table.sort(t, function(x, y)
    if value[x] == gas and value[y] == gas then
        solid = solid + 1
        if x == candidate then value[x] = solid else value[y] = solid end
    end
    if value[x] == gas then candidate = x elseif value[y] == gas then candidate = y end
    return value[x] < value[y]
end)
while true do table.sort(t) end
