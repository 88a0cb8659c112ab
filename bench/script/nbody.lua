local function body(x, y, z, vx, vy, vz, m) return {x = x, y = y, z = z, vx = vx, vy = vy, vz = vz, m = m} end
local bodies = {body(0, 0, 0, 0, 0, 0, 39.5), body(4.8, -1.2, -0.1, 0.6, 2.8, -0.02, 0.04),
    body(8.3, 4.1, -0.4, -1.0, 1.8, 0.008, 0.01), body(12.9, -15.1, -0.2, 1.1, 0.9, -0.01, 0.002),
    body(15.4, -25.9, 0.2, 1.0, 0.6, -0.03, 0.002)}
local function advance(dt)
    local n = #bodies
    for i = 1, n do
        local a = bodies[i]
        local ax, ay, az, am = a.x, a.y, a.z, a.m
        for j = i + 1, n do
            local b = bodies[j]
            local dx, dy, dz = ax - b.x, ay - b.y, az - b.z
            local d2 = dx * dx + dy * dy + dz * dz
            local mag = dt / (d2 * math.sqrt(d2))
            local bm, f = b.m * mag, am * mag
            a.vx = a.vx - dx * bm a.vy = a.vy - dy * bm a.vz = a.vz - dz * bm
            b.vx = b.vx + dx * f b.vy = b.vy + dy * f b.vz = b.vz + dz * f
        end
    end
    for i = 1, n do
        local a = bodies[i]
        a.x = a.x + dt * a.vx a.y = a.y + dt * a.vy a.z = a.z + dt * a.vz
    end
end
for i = 1, 15000 do advance(0.01) end
