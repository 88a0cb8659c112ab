function onUpdate()
    while true do end
end
