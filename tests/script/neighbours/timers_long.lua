-- Each call takes nearly all that a call may, so the last one of a tick runs far past its end.
for _ = 1, 500 do
    Timer.Every(0, function()
        for _ = 1, 2400000 do end
    end)
end
