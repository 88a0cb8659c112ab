// Right uses: everything here compiles, and runs without a fault.
interface Profile {
    coins: number;
    items: string[];
}

const store = DataStore.GetDataStore<Profile>("Profiles");
const scored = Signal.new<[name: string, points: number]>();

scored.Connect((name, points) => print(name.toUpperCase(), points * 2));
scored.Fire("Ada", 3);

const up = new Vector3(0, 1);
const sum = up.add(Vector3.new(1, 2, 3)).mul(2);
if (sum.Y !== 6 || new Vector3().Magnitude !== 0) {
    error("a vector is made in both ways");
}

Network.OnClientEvent<[direction: Vector3, power: number]>("Shoot", (player, direction, power) => {
    print(player.Name, direction.Unit.mul(power));
});
Network.OnInvoke<[item: string], boolean>("Buy", (player, item) => item.length > 0 && player.Name !== "");

Players.PlayerAdded.Connect((player) => {
    const stats: Record<string, number> = player.leaderstats;
    stats.Coins = 5;
    player.leaderstats.Level = 1;
    const key = tostring(player.UserId);
    store.SetAsync(key, { coins: 5, items: [] });
    const profile = store.GetAsync(key);
    if (profile === undefined || profile.coins !== 5) {
        error("what was written is read");
    }
    store.UpdateAsync(key, (old) => ({ coins: (old?.coins ?? 0) + 1, items: old?.items ?? [] }));
    Network.FireClient<[coins: number]>(player, "Coins", profile.coins);
});

for (const entity of World.GetInRadius(up, 50, "Part")) {
    const type: EntityType = entity.Type;
    if (type !== "Part") {
        error("only parts were asked for");
    }
    entity.seen = true; // a field of one's own
}

const guard = Npc.Spawn(Vector3.new(0, 5, 0));
const [state, suspicion] = Npc.GetState(guard);
if (state === "Idle") {
    print(suspicion.toFixed(1));
}

export function onUpdate(self: Entity | undefined, dt: number) {
    print(self === undefined, dt > 0);
}
