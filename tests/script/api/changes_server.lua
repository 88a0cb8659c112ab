-- side: server
-- ticks: 120
-- Signals for changed attributes and tags.
local function check(got, want)
    assert(got == want, tostring(got) .. " instead of " .. tostring(want))
end

local function attributes()
    local door = World.Find("Door")
    local log = {}
    door.AttributeChanged:Connect(function(name, now, before)
        log[#log + 1] = name .. ": " .. tostring(before) .. " to " .. tostring(now)
    end)
    door:GetAttributeChangedSignal("price"):Connect(function(now, before)
        log[#log + 1] = "price " .. tostring(before) .. " to " .. tostring(now)
    end)
    door:SetAttribute("price", 5)
    door:SetAttribute("price", 5.0) -- the same: nothing changed
    door:SetAttribute("price", "five", {visibility = "server"})
    door:SetAttribute("open", true)
    door:SetAttribute("price", nil)
    check(#log, 0) -- handlers run after the one who changed it has finished
    task.wait()
    check(table.concat(log, ", "), "price: nil to 5, price nil to 5, price: 5 to five, price 5 to five, " ..
        "open: nil to true, price: five to nil, price five to nil")
    log = {}
    door:SetAttribute("spot", Vector3.new(1, 2, 3))
    task.wait()
    check(#log, 1)
    door:SetAttribute("spot", Vector3.new(1, 2, 3))
    door:SetAttribute("to", door)
    door:SetAttribute("to", World.Find("Door"))
    task.wait()
    check(#log, 2)
    check(door:GetAttributeChangedSignal("price"), door:GetAttributeChangedSignal("price"))
    assert(not pcall(door.GetAttributeChangedSignal, door, ""))
    assert(not pcall(door.GetAttributeChangedSignal, door, ("x"):rep(65)))
end

-- A handler that sets its own attribute is stopped; the change is made all the same.
local function recursion()
    local crate = World.Spawn("Crate", Vector3.new(3, 5, 3))
    local calls, stopped = 0, 0
    crate:GetAttributeChangedSignal("n"):Connect(function(n)
        calls = calls + 1
        local ok, message = pcall(crate.SetAttribute, crate, "n", n + 1)
        check(crate:GetAttribute("n"), n + 1)
        if not ok then
            stopped = stopped + 1
            assert(message:find("signals fire signals without end", 1, true), message)
        end
    end)
    crate:SetAttribute("n", 0)
    task.wait(0.2)
    check(stopped, 1)
    assert(calls > 4 and calls <= 16, calls)
    crate:Destroy()
end

local function tags()
    local log = {}
    World.TagAdded:Connect(function(tag, entity) log[#log + 1] = "+" .. tag .. " " .. entity.Name end)
    World.TagRemoved:Connect(function(tag, entity) log[#log + 1] = "-" .. tag end)
    World.GetTagAddedSignal("coin"):Connect(function(entity) log[#log + 1] = "a coin" end)
    World.GetTagRemovedSignal("coin"):Connect(function(entity)
        log[#log + 1] = entity:IsValid() and "no coin any more" or "a coin is gone"
    end)
    local door = World.Find("Door")
    door:AddTag("exit")
    door:AddTag("exit")
    door:RemoveTag("entrance")
    door:RemoveTag("exit")
    local coin = World.Spawn("Coin", Vector3.new(3, 5, 3)) -- its prefab has the tag
    task.wait()
    check(table.concat(log, ", "), "+exit Door, -exit, +coin Coin, a coin")
    log = {}
    coin:RemoveTag("coin")
    coin:AddTag("coin")
    task.wait()
    check(table.concat(log, ", "), "-coin, no coin any more, +coin Coin, a coin")
    log = {}
    coin:Destroy()
    task.wait(0.1)
    check(table.concat(log, ", "), "-coin, a coin is gone")
end

function onStart()
    attributes()
    recursion()
    tags()
    print("done")
end
