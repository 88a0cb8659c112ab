-- The zone in front of a door: the door goes up while somebody stands here.
local closed
local inside = 0

local function move(self)
    local door = self:GetAttribute("door")
    closed = closed or door.Position
    local up = inside > 0 and self.params.height or 0
    door:MoveTo(closed + Vector3.new(0, up, 0), self.params.seconds)
end

function OnTriggerEnter(self, other)
    inside = inside + 1
    move(self)
end

function OnTriggerLeave(self, other)
    inside = math.max(0, inside - 1)
    move(self)
end
