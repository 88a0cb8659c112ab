-- Many short calls in place of a few long ones.
local n = 0
for _ = 1, 1000 do
    Timer.Every(0, function()
        for _ = 1, 4000 do
            n = n + 1
        end
    end)
end
