-- world: error
-- Handlers of changed attributes and tags that change them again, many at once, and names that are none.
local parts = {}
local function listen(part, i)
    part.AttributeChanged:Connect(function(name, now)
        for k = 1, 3 do
            part:SetAttribute("n" .. k, (tonumber(now) or 0) + k)
        end
    end)
    part:GetAttributeChangedSignal("n1"):Connect(function()
        part:AddTag("t" .. i % 7)
        part:RemoveTag("t" .. (i + 1) % 7)
    end)
end
World.TagAdded:Connect(function(tag, entity) entity:RemoveTag(tag) end)
World.TagRemoved:Connect(function(tag, entity)
    if entity:IsValid() then
        entity:AddTag(tag)
    end
end)
function onStart()
    for i = 1, 40 do
        parts[i] = World.Spawn("Block", Vector3.new(i % 30, 40, i // 30))
        listen(parts[i], i)
    end
    for _, name in ipairs({"", ("x"):rep(65), "\255", "a\0b"}) do
        assert(not pcall(parts[1].GetAttributeChangedSignal, parts[1], name))
        assert(not pcall(World.GetTagAddedSignal, name))
    end
    assert(not pcall(parts[1].GetAttributeChangedSignal, parts[1], 0 / 0))
    assert(not pcall(World.GetTagRemovedSignal, nil))
end
function onUpdate()
    for i, part in ipairs(parts) do
        part:SetAttribute("n1", World.Tick() + i)
    end
    for i = 1, 200 do -- signals that nobody holds
        local _ = World.GetTagAddedSignal("s" .. i + World.Tick() * 200)
    end
end
