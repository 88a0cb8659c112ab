-- Work that makes twice as much work, for the same tick.
local function more()
    task.defer(more)
    task.defer(more)
end
more()
