-- side: both
-- Random repeats for a seed; Json goes both ways and says where it fails.
local a, b = Random.new(7), Random.new(7)
for _ = 1, 100 do
    local n = a:NextInteger(-5, 5)
    assert(n >= -5 and n <= 5 and math.type(n) == "integer" and n == b:NextInteger(-5, 5))
    local x = a:NextNumber(2, 3)
    assert(x >= 2 and x < 3 and x == b:NextNumber(2, 3))
end
assert(Random.new(1):NextInteger(math.mininteger, math.maxinteger))
assert(not pcall(function() Random.new(1):NextInteger(2, 1) end))

assert(Json.Encode({1, 2, {}}) == "[1,2,[]]")
assert(Json.Encode({a = "x\"\n"}) == '{"a":"x\\"\\n"}')
assert(Json.Encode(0.1) == "0.1" and Json.Encode(1.0) == "1" and Json.Encode(nil) == "null")
local t = Json.Decode('{"list": [1, 2.5, null, true], "name": "J\\u00f6"}')
assert(t.list[1] == 1 and math.type(t.list[1]) == "integer" and t.list[2] == 2.5)
assert(t.list[3] == nil and t.list[4] == true and t.name == "Jö")
local ok, err = pcall(Json.Decode, '{"a": [1,\n 2,}')
assert(not ok and err:find("line 2", 1, true), err)
for _, bad in ipairs({0 / 0, math.huge, print, {[1] = 1, x = 2}}) do
    assert(not pcall(Json.Encode, bad))
end
local loop = {}
loop.loop = loop
assert(not pcall(Json.Encode, loop))
print("done")
