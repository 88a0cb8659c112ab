-- world: error
-- Names and shapes that no message has, and more listeners and declarations than there may be.
local nan = 0 / 0
for _, name in ipairs({"", ("x"):rep(65), ("x"):rep(1 << 20), "\0", "\255", 5, nan, {}, print, true}) do
    local on = pcall(Network.On, name, print)
    local declared = pcall(Network.Declare, name, {types = {"number"}})
    assert(not on and not declared, tostring(name))
end
assert(not pcall(Network.On) and not pcall(Network.On, "x") and not pcall(Network.On, "x", {}))
assert(not pcall(Network.On, "x", nan) and not pcall(Network.On, nil, print))
for _, shape in ipairs({{"number"}, {types = {{}}}, {types = {nan}}, {types = {"numbr"}}, {types = {"number |"}},
    {types = {"number|string"}}, {types = {[2] = "number"}}, {rate = nan}, {rate = -1}, {rate = 1e300}, {rate = "fast"},
    {types = setmetatable({}, {__index = function() error("asked") end, __len = function() return 1 << 40 end}), x = 1}}) do
    assert(not pcall(Network.Declare, "x", shape))
end
assert(not pcall(Network.Declare, "x") and not pcall(Network.Declare, "x", 5))
local many = {}
for i = 1, 65 do many[i] = "any" end
assert(not pcall(Network.Declare, "x", {types = many}))
function onUpdate()
    for i = 1, 200 do
        Network.Declare("name" .. World.Tick() .. " " .. i, {types = {"any"}, rate = 1})
    end
end
