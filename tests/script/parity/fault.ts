// Faults name the lines of this file.
function inner(x: { y?: { z: number } }) {
    return x.y!.z;
}

export function onStart() {
    task.spawn(() => {
        inner({});
    });
    task.spawn(() => {
        const list: number[] = [];
        print(
            "never",
            list.reduce((a, b) => a + b),
        );
    });
    throw new TypeError("thrown");
}
