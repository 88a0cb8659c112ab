local updates, inside = 0, 0

local function counter()
    local n = 0
    return function()
        n = n + 1
        return n
    end
end
local next_number = counter()

function onStart(self)
    print("start", self.Name, next_number(), next_number())
    local scored = Signal.new()
    scored:Connect(function(who, points) print("scored", who, points) end)
    scored:Once(function(who) print("once", who) end)
    scored:Fire("Ada", 3)
    scored:Fire("Bo", 4)
    print("fired")
    local every
    every = Timer.Every(0.1, function()
        print("every", next_number())
        if next_number() > 8 then
            every:Disconnect()
            print("connected", every.Connected)
        end
    end)
    Timer.After(0.05, function() print("after") end)
    task.spawn(function(a, b)
        print("spawned", a, b)
        task.wait(0.2)
        print("waited")
    end, 1, "two")
    task.defer(function() print("deferred") end)
    task.delay(0.1, function() print("delayed") end)
    self.TriggerEntered:Connect(function(other) print("signal", other.Name, other.Type) end)
end

function onUpdate(self, dt)
    updates = updates + 1
    if updates == 3 then
        print("update", updates, dt > 0.016 and dt < 0.017, self:IsValid())
    end
end

function OnTriggerEnter(self, other)
    inside = inside + 1
    print("enter", self.Name, other.Type, inside)
end

function OnTriggerLeave(self, other)
    inside = inside - 1
    print("leave", other.Type, inside)
end

function onEnable() print("enable") end
function onDisable() print("disable") end
function onDestroy(self) print("destroy", self.Name) end
