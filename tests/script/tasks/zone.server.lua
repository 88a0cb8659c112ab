-- A safe zone: who is inside heals, and everybody sees how many there are.
-- on: Zone
-- ticks: 180
local inside = {}

function OnTriggerEnter(self, other)
    inside[other] = true
    self:SetAttribute("count", (self:GetAttribute("count") or 0) + 1)
end

function OnTriggerLeave(self, other)
    inside[other] = nil
    self:SetAttribute("count", self:GetAttribute("count") - 1)
end

Timer.Every(0.5, function()
    for body in pairs(inside) do
        if body:IsValid() and body.Health > 0 then
            body:TakeDamage(-10)
        end
    end
end)

function onStart(self)
    if Players.LocalPlayer then
        return
    end
    local body = Players.GetPlayers()[1].Character
    body:TakeDamage(50)
    body:SetPosition(self.Position - Vector3.new(0, 1.5, 0))
    task.wait(1.2)
    assert(self:GetAttribute("count") == 1 and body.Health == 70, body.Health)
    body:SetPosition(Vector3.zero)
    task.wait(1)
    assert(self:GetAttribute("count") == 0 and body.Health == 70, body.Health)
    print("done")
end
