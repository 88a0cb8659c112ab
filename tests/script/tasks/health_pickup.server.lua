-- A health pack that hides for a while after somebody has taken it.
-- ticks: 200
local HEAL, COOLDOWN, MAX = 40, 1, 100
local pack = World.Spawn("Coin", Vector3.new(0, 1, -8))
local hidden = false

pack.TriggerEntered:Connect(function(other)
    if hidden or not other.Player or other.Health >= MAX then
        return
    end
    hidden = true
    other:TakeDamage(-math.min(HEAL, MAX - other.Health))
    local home = pack.Position
    pack.Position = home - Vector3.new(0, 50, 0)
    task.wait(COOLDOWN)
    pack.Position = home
    hidden = false
end)

local function walk_in(body)
    body:SetPosition(Vector3.new(0, 0, -12))
    task.wait(0.1)
    body:SetPosition(Vector3.new(0, 0, -8))
    task.wait(0.2)
end

function onStart()
    local body = Players.GetPlayers()[1].Character
    body:TakeDamage(60)
    walk_in(body)
    assert(body.Health == 80, body.Health)
    walk_in(body)
    assert(body.Health == 80, "it is not back yet")
    body:SetPosition(Vector3.new(0, 0, -12))
    task.wait(1)
    walk_in(body)
    assert(body.Health == 100, body.Health)
    print("done")
end
