-- Every tick some more, which never end.
function onUpdate()
    for _ = 1, 200 do
        task.delay(1000, print)
        local own = coroutine.wrap(function()
            task.wait(1000)
        end)
        own()
    end
end
