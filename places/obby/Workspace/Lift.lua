-- Goes up, waits, comes down, waits. scene.json says how far and how fast, in "parameters".
---@param self Entity
function onStart(self)
    local low = self.Position
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
