-- side: both
-- What is not there, and what cannot be changed.
for _, name in ipairs({"io", "package", "debug", "dofile", "loadfile", "collectgarbage"}) do
    assert(_G[name] == nil, name)
end
assert(string.dump == nil and coroutine.close == nil)
for key in pairs(os) do assert(key == "time" or key == "clock" or key == "difftime", key) end
assert(not pcall(function() string.evil = 1 end))
assert(not pcall(function() World.Spawn = 1 end))
assert(not pcall(rawset, World, "Spawn", 1))
assert(not pcall(rawset, string, "rep", 1))
assert(not pcall(setmetatable, World, {}))
assert(type(getmetatable("")) ~= "table", "the metatable of strings stays hidden")
assert(load("\27Lua") == nil)
local f = load("x = 5 return x")
assert(f() == 5 and x == 5, "load runs in this script's own globals")
_G.y = 1
assert(y == 1)
-- No weak tables, and none by a field that is set later: what is collected when must not be seen.
local ok, why = pcall(setmetatable, {}, {__mode = "k"})
assert(not ok and why:find("no table is weak, so take out what has gone", 1, true), why)
ok, why = pcall(setmetatable, {}, {__gc = print})
assert(not ok and why:find("a metatable cannot have __gc here: write onDestroy", 1, true), why)
local mt = {}
local kept = setmetatable({}, mt)
mt.__mode = "v"
for i = 1, 50 do kept[i] = {} end
local garbage
for i = 1, 20000 do garbage = {garbage and i} end
local left = 0
for _ in pairs(kept) do left = left + 1 end
assert(left == 50, left)
print("done")
