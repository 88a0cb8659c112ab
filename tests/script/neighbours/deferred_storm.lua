local function again()
    for _ = 1, 20000 do end
    task.defer(again)
    task.defer(again)
end
function onUpdate()
    for _ = 1, 2000 do
        task.defer(again)
    end
end
