-- side: both
-- ticks: 200
-- Waiting, delays, timers, cancelling; order and durations in ticks.
local log = {}
local function note(text) log[#log + 1] = text end

function onStart()
    local waited = task.wait(0.5)
    assert(waited >= 0.5 and waited < 0.6, waited)
    assert(task.wait() > 0)

    local at_once
    task.spawn(function() at_once = true task.wait(0.1) note("spawn went on") end)
    assert(at_once, "spawn runs until the first pause")
    task.wait(0.2)
    assert(table.remove(log) == "spawn went on")
    local sleeper = task.spawn(function() task.wait(0.1) note("never") end)
    task.cancel(sleeper)
    task.spawn(note, "spawned")
    local got
    local thread = coroutine.create(function(x) got = x end)
    assert(task.spawn(thread, 7) == thread and got == 7)
    local waiting = coroutine.create(function(word)
        note(coroutine.yield(word))
    end)
    coroutine.resume(waiting, "x")
    assert(task.spawn(waiting, "a coroutine went on") == waiting)
    task.defer(note, "deferred")
    task.delay(0.1, note, "delayed")
    local never = task.delay(0.1, note, "never")
    task.cancel(never)
    local ticks = 0
    local every
    every = Timer.Every(0.1, function()
        ticks = ticks + 1
        if ticks == 3 then every:Disconnect() end
    end)
    local after = Timer.After(0.1, function() note("after") end)
    local stopped = Timer.After(0.1, function() note("never") end)
    assert(after.Connected and stopped.Connected)
    stopped:Disconnect()
    assert(not stopped.Connected)
    task.wait(1)
    assert(ticks == 3, ticks)
    assert(not every.Connected)
    assert(table.concat(log, " ") == "spawned a coroutine went on deferred delayed after", table.concat(log, " "))

    -- A coroutine of the script's own may wait too: whoever resumed it goes on meanwhile.
    local woke
    local co = coroutine.create(function() task.wait(0.1) woke = true end)
    assert(coroutine.resume(co))
    assert(not woke)
    task.wait(0.2)
    assert(woke and coroutine.status(co) == "dead")
    print("done")
end
