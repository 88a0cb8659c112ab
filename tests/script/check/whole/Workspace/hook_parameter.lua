function onUpdate(dt)
    print(dt * 2)
end
