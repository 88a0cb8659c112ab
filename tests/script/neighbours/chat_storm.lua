function onUpdate()
    for i = 1, 500 do Chat.Send("line " .. i) end
end
