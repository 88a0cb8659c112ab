local door = World.Find("Door")
door.CanCollide = false
door.Transparency = 0.5
door.opened = true -- a field of its own
print(door.opened, door.Postion, door.position)
door:SetPostion(Vector3.new(0, 1, 0))
Players.PlayerAdded:Connect(function(player)
    print(player.Nam, player.coins, player.Character.WalkSpeed)
    player.CharacterAdded:Connect(function(character)
        character:WaitForChild("Humanoid").WalkSpeed = 20
    end)
    door.CanCollide = true
end)
for _, player in ipairs(Players.GetPlayers()) do
    print(player.DisplayName, player.Name)
end
local hit = World.Raycast(Vector3.new(), Vector3.new(0, -1, 0), 5)
print(hit and hit.Instance)
door.Touched:connect(function(other)
    print(other.Humanoid)
end)
local pet = {WalkSpeed = 5} -- a table of its own may have any field
print(pet.WalkSpeed)
function onStart(self)
    self.Anchored = true
    self.speed = 5
    print(self.speed, self.Positon)
end
local Pet = {}
function Pet.new() return setmetatable({}, {__index = Pet}) end
function Pet:walk() self.WalkSpeed = 6 end
Pet.new():walk()
print(require("ReplicatedStorage/Tools").JumpPower)
