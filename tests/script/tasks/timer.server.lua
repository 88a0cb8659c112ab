-- A stopwatch for a race, a bomb that can be defused, and a callback that is debounced.
-- ticks: 200
local function debounce(seconds, callback)
    local waiting
    return function(...)
        if waiting then
            waiting:Disconnect()
        end
        local arguments = {...}
        waiting = Timer.After(seconds, function()
            callback(table.unpack(arguments))
        end)
    end
end

function onStart()
    local started = World.Time()
    local ticks = 0
    local clock = Timer.Every(0.25, function()
        ticks = ticks + 1
    end)
    local exploded = false
    local bomb = task.delay(0.5, function()
        exploded = true
    end)
    local saved = {}
    local save = debounce(0.3, function(value)
        saved[#saved + 1] = value
    end)
    save(1)
    save(2)
    task.wait(0.4)
    task.cancel(bomb)
    save(3)
    local waited = task.wait(1)
    clock:Disconnect()
    task.wait(0.5)
    assert(not exploded and not clock.Connected and ticks == 5, ticks)
    assert(#saved == 2 and saved[1] == 2 and saved[2] == 3)
    assert(math.abs(waited - 1) < 0.05 and math.abs(World.Time() - started - 1.9) < 0.1)
    print("done")
end
