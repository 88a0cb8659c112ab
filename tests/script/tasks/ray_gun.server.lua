-- A gun that hits at once: the server casts the ray from the shooter's eye.
-- ticks: 60
local RANGE, DAMAGE, COOLDOWN = 50, 25, 0.3
local EYE = Vector3.new(0, 1.6, 0)
local last = {}

Network.Declare("Shoot", {types = {"Vector3"}, rate = 20})
Network.On("Shoot", function(player, direction)
    local now = World.Time()
    local body = player.Character
    if not body or body.Health <= 0 or now - (last[player] or -1) < COOLDOWN then
        return
    end
    last[player] = now
    local hit = World.Raycast(body.Position + EYE, direction.Unit, RANGE, body)
    if hit and hit.Entity and hit.Entity.Health > 0 then
        hit.Entity:TakeDamage(DAMAGE, body)
        Network.FireClient(player, "Hit", hit.Position, hit.Entity.Health)
    end
end)

function onStart()
    local target = Npc.Spawn(Vector3.new(0, 0, -8))
    task.wait(0.9)
    assert(target.Health == 50, target.Health) -- two shots, and one too early
    print("done")
end
