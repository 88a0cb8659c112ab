function onUpdate()
    for i = 1, 10000 do print("line", i) end
end
