-- side: client
-- A script of a client shows a bounded number of bursts, beams and shakes in a tick, and is told so.
local at = Vector3.new(1, 2, 3)
local function burst(count)
    for _ = 1, count do
        Effect.Burst("smoke", at)
    end
end
burst(30)
Effect.Beam(at, at * 2)
camera.Shake(0.1)
local ok, message = pcall(burst, 1)
assert(not ok and message:find("Effect.Burst: a script of a client shows at most 32 bursts, beams and shakes in a tick",
    1, true), tostring(message))
task.wait()
burst(32)
assert(not pcall(burst, 1))
print("done")
