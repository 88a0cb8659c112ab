function onUpdate()
    for _ = 1, 460000 do end
    error("after all that")
end
