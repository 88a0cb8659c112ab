function onUpdate()
    for i = 1, 20000 do
        local _ = { i, { i }, tostring(i) }
    end
end
