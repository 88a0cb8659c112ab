local kind = 0
function onUpdate()
    kind = 1 - kind
    pcall(World.FillBox, Vector3.new(-30, 1, -30), Vector3.new(30, 30, 30), kind)
end
