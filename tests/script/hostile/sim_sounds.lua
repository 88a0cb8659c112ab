-- world: limit
-- More sounds than anybody can hear: loops without an end, with wrong and huge numbers, on entities
-- that are gone, changed and stopped again and again.
local handles = {}
function onUpdate()
    for i = 1, 3000 do
        local ok, handle = pcall(Sound.Play, ("x"):rep(i % 130), {
            loop = i % 2 == 0,
            volume = (i % 3 == 0) and 1e300 or -1e30,
            pitch = (i % 5 == 0) and 0 / 0 or 1e9,
            position = Vector3.new(1e30, i, -1e30),
            caption = ("c"):rep(i % 140),
        })
        if ok then
            handles[i % 50] = handle
            handle.Volume = i / 3000
            handle.Pitch = i
        end
        pcall(Sound.Music, (i % 2 == 0) and "m" .. i or nil, {fade = 1e30})
        local gone = World.Spawn and select(2, pcall(World.Spawn, "Bullet"))
        if typeof(gone) == "Entity" then
            pcall(Sound.Play, "gone", {entity = gone, loop = true})
            pcall(gone.Destroy)
            pcall(Sound.Play, "gone", {entity = gone, loop = true})
        end
        if handles[(i * 7) % 50] then
            pcall(handles[(i * 7) % 50].Stop)
        end
    end
end
