-- side: client
-- What a script wants of the camera; the player's side is the page's.
local function fails(message, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end
for _, mode in ipairs({"first", "third", "top", "fixed"}) do
    camera.SetMode(mode)
end
camera.SetMode()
fails('camera.SetMode: argument 1 (mode) cannot be "frist": it is first, third, top or fixed; did you mean first?',
    camera.SetMode, "frist")
assert(camera.FieldOfView == 70)
camera.FieldOfView = 50
assert(camera.FieldOfView == 50)
camera.SetMode("top")
assert(camera.FieldOfView == 50, "a mode leaves the field of view")
local function field(value)
    camera.FieldOfView = value
end
fails("camera.FieldOfView must be 30 to 110 degrees", field, 10)
fails("camera.FieldOfView must be 30 to 110 degrees", field, 179)
fails("camera.FieldOfView must be finite", field, 0 / 0)
fails("camera.FieldOfView must be a number, got string", field, "wide")
fails("camera.Position cannot be set: it is read only", function() camera.Position = Vector3.zero end)
camera.Move(Vector3.new(0, 20, 0), Vector3.zero, 2)
camera.Move(Vector3.new(0, 20, 0))
fails("camera.Move: seconds must be 0 to 60", camera.Move, Vector3.zero, nil, 1000)
fails("must be finite", camera.Move, Vector3.one * 1e38 * 1e38)
fails("camera.Move", camera.Move, Vector3.new(1e30, 0, 0))
camera.Shake(0.5, 1)
camera.Shake(1e9)
fails("camera.Shake: seconds must be 0 to 10", camera.Shake, 1, 1000)
World.SetSky({hour = 0}) -- ignored here, and said once
assert(World.GetSky().hour == 10)
print("done")
