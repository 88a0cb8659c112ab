// A loop that never ends: the fault names a line of it, not the one before.
export function onStart() {
    let n = 0;

    while (n >= 0) {
        n += 1;
        if (n % 2 === 0) {
            continue;
        }
    }
}
