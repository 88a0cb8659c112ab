-- Five hundred timers, each of which just fits into its call.
local function spin()
    for _ = 1, 460000 do end
end
for _ = 1, 500 do
    Timer.Every(0, spin)
end
