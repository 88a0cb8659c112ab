for _ = 1, 440000 do end
function onStart()
    for _ = 1, 460000 do end
end
