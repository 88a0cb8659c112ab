-- expect: budget
-- __close must not run after the trip: this one would start the work anew.
local function work()
    local c <close> = setmetatable({}, {__close = function() work() end})
    while true do end
end
work()
