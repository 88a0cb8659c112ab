-- side: server
-- The sky is one state: what is left out stays, the hour goes on by the tick, and nothing wrong is taken.
local function fails(message, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end
local before = World.GetSky()
assert(before.hour == 10 and before.hoursPerSecond == 0 and before.fog == 0 and before.weather == "clear")
World.SetSky({hour = 23.5, hoursPerSecond = 6, weather = "snow", fog = 100,
    colours = {top = "#112233", horizon = "#445566", sun = "#ffeedd"}})
local now = World.GetSky()
assert(now.hour == 23.5 and now.weather == "snow" and now.fog == 100 and now.hoursPerSecond == 6)
fails("World.SetSky: hour must be 0 to 24", World.SetSky, {hour = 24.1})
fails("World.SetSky: hour must be 0 to 24", World.SetSky, {hour = -1})
fails("World.SetSky: hour must be finite", World.SetSky, {hour = 0 / 0})
fails("World.SetSky: hoursPerSecond must be 0 to 6", World.SetSky, {hoursPerSecond = 1e30})
fails("World.SetSky: fog must be", World.SetSky, {fog = 3})
fails("World.SetSky: fog must be 0 to 4096", World.SetSky, {fog = -5})
fails('World.SetSky: weather cannot be "rian": it is clear, rain or snow', World.SetSky,
    {weather = "rian"})
fails('World.SetSky has no option "hours"', World.SetSky, {hours = 3})
fails("World.SetSky: colours are top, horizon and sun", World.SetSky, {colours = {bottom = "#112233"}})
fails("World.SetSky: top must be a text like", World.SetSky, {colours = {top = "red"}})
fails("World.SetSky: colours.sun must be a text like", World.SetSky, {colours = {sun = 5}})
fails("World.SetSky: colours must be", World.SetSky, {colours = 5})
assert(World.GetSky().weather == "snow", "what failed changed nothing")

local function near(a, b)
    return math.abs(a - b) < 0.001
end
function onStart()
    local tick, hour = World.Tick(), World.GetSky().hour
    task.wait(0.5)
    local later = (World.Tick() - tick) / 60 * 6
    assert(near(World.GetSky().hour, (hour + later) % 24), "the hour goes on, and over midnight")
    World.SetSky({weather = "rain"})
    assert(World.GetSky().weather == "rain" and World.GetSky().fog == 100, "the rest stays")
    World.SetSky({hoursPerSecond = 0})
    local stopped = World.GetSky().hour
    task.wait(0.1)
    assert(World.GetSky().hour == stopped, "it stands still")
    World.SetSky()
    assert(World.GetSky().hour == 10 and World.GetSky().weather == "clear" and World.GetSky().fog == 0)
    print("done")
end
