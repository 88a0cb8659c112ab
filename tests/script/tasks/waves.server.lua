-- Waves of enemies: the next one comes when the last enemy of this one is dead.
-- ticks: 200
local wave, alive = 0, 0
local cleared = Signal.new()
local random = Random.new(3)

local function spawn_enemy()
    local angle = random:NextNumber(0, 2 * math.pi)
    local enemy = Npc.Spawn(Vector3.new(math.cos(angle) * 15, 0, math.sin(angle) * 15))
    enemy:AddTag("enemy")
    alive = alive + 1
    enemy.Died:Once(function()
        alive = alive - 1
        task.delay(0.2, function() enemy:Destroy() end)
        if alive == 0 then
            cleared:Fire(wave)
        end
    end)
end

task.spawn(function()
    while true do
        wave = wave + 1
        for _ = 1, 2 * wave do
            spawn_enemy()
        end
        cleared:Wait()
        task.wait(0.3)
    end
end)

function onStart()
    for expected = 1, 3 do
        task.wait(0.5)
        local enemies = World.GetTagged("enemy")
        assert(wave == expected and #enemies == 2 * expected, #enemies)
        for _, enemy in ipairs(enemies) do
            enemy:TakeDamage(1000)
        end
    end
    print("done")
end
