-- A guard that walks a round, chases whoever comes near, and hits at arm's length.
-- ticks: 420
local ROUND = {Vector3.new(14, 0, 14), Vector3.new(20, 0, 14)}
local SIGHT, REACH, DAMAGE = 6, 2, 10
local guard = Npc.Spawn(ROUND[1])
Npc.SetPatrol(guard, ROUND)

local function nearest(position, radius)
    local best, distance = nil, radius
    for _, body in ipairs(World.GetInRadius(position, radius, "Player")) do
        local away = (body.Position - position).Magnitude
        if body.Health > 0 and away <= distance then
            best, distance = body, away
        end
    end
    return best, distance
end

local target
Timer.Every(0.25, function()
    local found, distance = nearest(guard.Position, SIGHT)
    if found ~= target then
        target = found
        Npc.SetTarget(guard, target)
        if not target then
            Npc.SetPatrol(guard, ROUND)
        end
    elseif target and distance < REACH then
        target:TakeDamage(DAMAGE, guard)
    end
end)

function onStart()
    task.wait(2.5)
    assert((guard.Position - ROUND[1]).Magnitude > 1, "it patrols: " .. tostring(guard.Position))
    local body = Players.GetPlayers()[1].Character
    body:SetPosition(guard.Position + Vector3.new(0, 0, -5))
    task.wait(3)
    assert(body.Health < 100, "it chases: " .. tostring(guard.Position) .. tostring(body.Position))
    local health = body.Health
    body:SetPosition(Vector3.new(-20, 0, -20))
    task.wait(1)
    assert(target == nil and body.Health == health)
    print("done")
end
