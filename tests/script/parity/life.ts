// Every hook, a trigger, timers, signals, coroutines and state in closures.
let updates = 0;
let inside = 0;

function counter() {
    let n = 0;
    return () => {
        n += 1;
        return n;
    };
}
const next = counter();

export function onStart(self: Entity) {
    print("start", self.Name, next(), next());
    const scored = Signal.new();
    scored.Connect((who: string, points: number) => print("scored", who, points));
    scored.Once((who: string) => print("once", who));
    scored.Fire("Ada", 3);
    scored.Fire("Bo", 4);
    print("fired");
    const every = Timer.Every(0.1, () => {
        print("every", next());
        if (next() > 8) {
            every.Disconnect();
            print("connected", every.Connected);
        }
    });
    Timer.After(0.05, () => print("after"));
    task.spawn((a: number, b: string) => {
        print("spawned", a, b);
        task.wait(0.2);
        print("waited");
    }, 1, "two");
    task.defer(() => print("deferred"));
    task.delay(0.1, () => print("delayed"));
    self.TriggerEntered.Connect((other) => print("signal", other.Name, other.Type));
}

export function onUpdate(self: Entity, dt: number) {
    updates += 1;
    if (updates === 3) {
        print("update", updates, dt > 0.016 && dt < 0.017, self.IsValid());
    }
}

export function OnTriggerEnter(self: Entity, other: Entity) {
    inside += 1;
    print("enter", self.Name, other.Type, inside);
}

export function OnTriggerLeave(self: Entity, other: Entity) {
    inside -= 1;
    print("leave", other.Type, inside);
}

export function onEnable() {
    print("enable");
}

export function onDisable() {
    print("disable");
}

export function onDestroy(self: Entity) {
    print("destroy", self.Name);
}
