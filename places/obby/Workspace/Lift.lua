-- Goes up, waits, comes down, waits. scene.json says how far and how fast, in "parameters".
---@param self Entity
function onStart(self)
    self.low = self.low or self.Position -- where it began: a script that is saved again starts anew
    local low = self.low
    local high = low + Vector3.new(0, self.params.rise, 0)

    local function ride(goal)
        self:MoveTo(goal, self.params.seconds)
        task.wait(self.params.seconds + self.params.pause)
    end

    task.spawn(function()
        while true do
            ride(high)
            ride(low)
        end
    end)
end
