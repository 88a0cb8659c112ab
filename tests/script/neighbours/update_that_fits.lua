-- Uses nearly a whole call in every tick, and never fails.
function onUpdate()
    for _ = 1, 450000 do end
end
