-- side: both
-- ticks: 60
-- Signals: deferred, in order, once, waiting, disconnecting.
function onStart()
    local signal = Signal.new()
    local log = {}
    local first = signal:Connect(function(...) log[#log + 1] = "a" .. select("#", ...) end)
    signal:Connect(function(x) log[#log + 1] = "b" .. tostring(x) end)
    signal:Once(function() log[#log + 1] = "once" end)
    signal:Fire(1, nil, nil)
    assert(#log == 0, "a firing is deferred")
    task.wait()
    assert(table.concat(log, " ") == "a3 b1 once", table.concat(log, " "))
    first:Disconnect()
    assert(not first.Connected)
    signal:Fire(2)
    task.wait()
    assert(table.concat(log, " ") == "a3 b1 once b2", table.concat(log, " "))

    task.delay(0.1, function() signal:Fire("x", "y") end)
    local x, y = signal:Wait()
    assert(x == "x" and y == "y")
    signal:DisconnectAll()
    signal:Fire(3)
    task.wait()
    assert(table.concat(log, " ") == "a3 b1 once b2 bx", table.concat(log, " "))

    -- One handler's error does not keep the others from hearing; it is tested in faults.
    local heard = 0
    local chain = Signal.new()
    chain:Connect(function(n) heard = heard + 1 if n > 1 then chain:Fire(n - 1) end end)
    chain:Fire(5)
    task.wait(0.1)
    assert(heard == 5, heard)
    print("done")
end
