-- Signals that fire each other without end.
local a, b = Signal.new(), Signal.new()
a:Connect(function() b:Fire() b:Fire() end)
b:Connect(function() a:Fire() a:Fire() end)
a:Fire()
