for i = 1, 3 do
    if i == 2 then
        continue
    end
end
