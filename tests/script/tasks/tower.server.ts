// A tower that shoots at the nearest enemy, as a class with a cooldown.
class Tower {
    private ready = 0;
    kills = 0;

    constructor(readonly position: Vector3, readonly range: number, readonly damage: number) {}

    private nearest(): Entity | undefined {
        const enemies = World.GetInRadius(this.position, this.range, "Npc").filter((npc) => npc.Health > 0);
        const away = (npc: Entity) => npc.Position.sub(this.position).Magnitude;
        return enemies.sort((a, b) => away(a) - away(b))[0];
    }

    update(now: number) {
        const enemy = now >= this.ready ? this.nearest() : undefined;
        if (enemy === undefined) {
            return;
        }
        this.ready = now + 0.2;
        enemy.TakeDamage(this.damage);
        if (enemy.Health <= 0) {
            this.kills += 1;
        }
    }
}

const towers: Tower[] = [new Tower(new Vector3(10, 3, 10), 8, 50)];

export function onUpdate(self: Entity | undefined, dt: number) {
    towers.forEach((tower) => tower.update(World.Time()));
}

export function onStart() {
    const near = Npc.Spawn(Vector3.new(12, 0, 10));
    const far = Npc.Spawn(Vector3.new(14, 0, 10));
    const outside = Npc.Spawn(Vector3.new(-14, 0, 10));
    task.wait(0.3);
    assert(near.Health <= 0 && far.Health > 0, "the nearest first");
    task.wait(1);
    assert(far.Health <= 0 && outside.Health > 0 && towers[0].kills === 2, "then the next");
    print("done");
}
