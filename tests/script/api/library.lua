-- side: both
-- What math, table and string have here beyond Lua's own.
local function raises(part, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and err:find(part, 1, true), err)
end

assert(math.clamp(5, 1, 3) == 3 and math.clamp(-5, 1, 3) == 1 and math.clamp(2, 1, 3) == 2)
assert(math.type(math.clamp(2, 1.5, 3)) == "integer" and math.clamp(1, 1.5, 3) == 1.5)
raises("the lower bound is above the upper one", math.clamp, 1, 3, 2)
raises("the lower bound is above the upper one", math.clamp, 1, 0 / 0, 2)
raises("number expected", math.clamp, "x", 1, 2)

assert(math.round(2.5) == 3 and math.round(-2.5) == -3 and math.round(2.4999) == 2 and math.round(7) == 7)
assert(math.type(math.round(2.5)) == "integer" and math.round(0.49999999999999994) == 0)
assert(math.round(1e300) == 1e300 and math.round(-1 / 0) == -1 / 0)
local nan = math.round(0 / 0)
assert(nan ~= nan)

assert(math.sign(3) == 1 and math.sign(-0.5) == -1 and math.sign(0) == 0 and math.sign(0 / 0) == 0)

assert(math.noise(3, 4, 5) == 0 and math.noise(0.5) == math.noise(0.5, 0, 0))
local low, high, before = 0, 0, math.noise(0, 0.3, 0.7)
for i = 1, 2000 do
    local n = math.noise(i / 50, 0.3, 0.7)
    low, high = math.min(low, n), math.max(high, n)
    assert(math.abs(n - before) < 0.1, "smooth")
    before = n
end
assert(low < -0.4 and low >= -1 and high > 0.4 and high <= 1)
assert(string.format("%.6f", math.noise(1.25, -7.5, 100.125)) == "0.094021")
raises("between -1e15 and 1e15", math.noise, 1 / 0)
raises("between -1e15 and 1e15", math.noise, 0, 0 / 0)

assert(table.find({"a", "b", "a"}, "a") == 1 and table.find({"a", "b", "a"}, "a", 2) == 3)
assert(table.find({"a"}, "z") == nil and table.find({}, 1) == nil and table.find({1, nil, 2}, 2) == nil)
assert(table.find({Vector3.new(1, 2, 3)}, Vector3.new(1, 2, 3)) == 1)
raises("from 1 on", table.find, {}, 1, 0)
raises("table expected", table.find, "x", 1)

local t = {1, 2, x = 3}
local same = t
table.clear(t)
assert(next(t) == nil and same == t)
raises("read-only", table.clear, math)
local from = setmetatable({1, {2}, k = "v"}, {__index = {other = 1}})
local copy = table.clone(from)
assert(copy ~= from and copy[1] == 1 and copy[2] == from[2] and copy.k == "v" and copy.other == nil)

local function split(text, by)
    return table.concat(string.split(text, by), "|")
end
assert(split("a,b,,c") == "a|b||c" and split("", ",") == "" and #string.split("") == 1)
assert(split("a--b--", "--") == "a|b|" and split("aXb", "x") == "aXb" and split("añb", "") == "a|ñ|b")
assert(("1;2;3"):split(";")[3] == "3" and split("aaaab", "aab") == "aa|")
print("done")
