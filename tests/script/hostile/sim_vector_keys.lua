-- world: budget
-- Vectors whose hashes are all the same: each is looked up along one chain.
local M, K = 0x9e3779b1, 0x12345678
local function mix(hash, bits)
    hash = ((hash ~ bits) * M) & 0xffffffff
    return hash ~ (hash >> 15)
end
local function float(bits)
    return (string.unpack("<f", string.pack("<I4", bits)))
end
local keys, t = {}, {}
local i = 0
while #keys < 1500 do
    i = i + 1
    local x, y = 0x3f800000 + i, 0x40000000
    local z = mix(mix(0, x), y) ~ K
    if z & 0x7f800000 < 0x7e000000 and z & 0x7fffffff ~= 0 then
        keys[#keys + 1] = Vector3.new(float(x), float(y), float(z))
    end
    if i % 50 == 0 then
        task.wait()
    end
end
for n, key in ipairs(keys) do
    t[key] = n
    if n % 20 == 0 then
        task.wait()
    end
end
while true do
    for n, key in ipairs(keys) do
        local v = t[key]
    end
end
