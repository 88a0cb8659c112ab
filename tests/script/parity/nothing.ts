// What JavaScript throws at is a fault here, and not Lua that nobody can read.
export function onStart() {
    task.spawn(() => {
        print((undefined as any).nothing);
    });
    (5 as any).call();
}
