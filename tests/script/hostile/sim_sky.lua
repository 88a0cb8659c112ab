-- world: bounded
-- The sky changed as often as a tick allows, with everything else that could be given.
local turn = 0
function onUpdate()
    turn = turn + 1
    pcall(World.SetSky, {hour = 0 / 0})
    pcall(World.SetSky, {colours = setmetatable({}, {__index = function() return "#000000" end})})
    pcall(function()
        for i = 1, 1000000 do
            World.SetSky({hour = i % 24, hoursPerSecond = i % 6, fog = 8 + i % 4000,
                weather = i % 2 == 0 and "rain" or "snow"})
        end
    end)
end
