-- side: both
-- Sounds: what is given is checked, and a handle can be held, changed and stopped, also twice.
local function fails(wanted, call, ...)
    local ok, message = pcall(call, ...)
    assert(not ok and message:find(wanted, 1, true), message)
end

local bell = Sound.Play("bell", {volume = 0.5, pitch = 2, loop = true, caption = "a bell"})
assert(typeof(bell) == "SoundHandle")
assert(bell.Volume == 0.5 and bell.Pitch == 2)
bell.Volume = 7
bell.Pitch = 100
assert(bell.Volume == 1 and bell.Pitch == 4) -- the most there is
bell.Volume = -1
bell.Pitch = 0
assert(bell.Volume == 0 and bell.Pitch == 0.25)
bell:Stop()
bell:Stop()
bell.Volume = 1 -- of one that has ended: nothing happens
local once = Sound.Play("click")
assert(once.Volume == 1 and once.Pitch == 1 and once ~= bell)
once.Stop()

fails("SoundHandle.Volume must be a number", function() once.Volume = "loud" end)
fails("finite", function() once.Pitch = 0 / 0 end)
local unknown = "Name"
fails("Name", function() return once[unknown] end)
fails("must have 1 to 128 bytes", Sound.Play, "")
fails("caption must be", Sound.Play, "bell", {caption = ("x"):rep(129)})
fails("caption must be", Sound.Play, "bell", {caption = "a\0b"})
fails("caption must be", Sound.Music, "bell", {caption = "a\xff"})
fails("loop", Sound.Play, "bell", {loop = 1})
fails("entity", Sound.Play, "bell", {entity = 5})
fails("pitch must be finite", Sound.Play, "bell", {pitch = 1 / 0})
fails("fade must be finite", Sound.Music, "bell", {fade = 0 / 0})
fails('Sound.Music has no option "player"', Sound.Music, "bell", {player = 1})
fails("argument 1 (name)", Sound.Play, nil)
fails("argument 1 (name)", Sound.Music, 5)

Sound.Music("calm", {volume = 0.3, fade = 100, pitch = 0.5, caption = "calm music"})
Sound.Music("war")
Sound.Music(nil, {fade = 2})
Sound.Music()
print("done")
