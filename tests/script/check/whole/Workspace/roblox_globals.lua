local players = game:GetService("Players")
local door = script.Parent
local part = Instance.new("Part")
part.Position = CFrame.new(0, 1, 0)
print(Color3.new(1, 0, 0), Enum.KeyCode.Space)
wait(1)
Debris:AddItem(part, 2)
workspace.Door:WaitForChild("Handle")
print(players, door, tick(), Humanoid)
