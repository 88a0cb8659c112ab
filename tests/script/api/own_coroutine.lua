-- side: server
-- ticks: 60
-- Own coroutines are resumed and ended as ever, and a name that is too long finds nothing.
function onStart()
    local own = task.spawn(function() task.wait(0.1) end)
    task.cancel(own)
    local made = coroutine.create(function(a) local b = coroutine.yield(a + 1) return b * 2 end)
    local good, first = coroutine.resume(made, 1)
    local also, second = coroutine.resume(made, 4)
    assert(good and first == 2 and also and second == 8)
    assert(coroutine.status(made) == "dead" and not coroutine.resume(made))
    assert(World.Find(("x"):rep(200000)) == nil and #World.FindAll(("x"):rep(200000)) == 0)
    assert(Json.Encode({1, 2.5, "a"}) == '[1,2.5,"a"]')
    print("done")
end
