// Functions that are made in loops: each keeps the variables of its own round.
type Numbers = (() => number)[];
const said = (all: Numbers) => all.map((f) => f()).join();

export function onStart() {
    const plain: Numbers = [];
    for (let i = 0; i < 3; i++) plain.push(() => i);
    print(said(plain));
    const two: Numbers = [];
    for (let i = 0, j = 10; i < 4; i++, j--) {
        if (i === 1) {
            continue;
        }
        two.push(() => i * 100 + j);
    }
    print(said(two));
    const changed: Numbers = [];
    for (let i = 0; i < 3; i++) {
        changed.push(() => i++);
    }
    print(said(changed), said(changed));
    const skipped: Numbers = [];
    for (let i = 0; i < 6; i++) {
        i++;
        skipped.push(() => i);
        if (i > 3) {
            break;
        }
    }
    print(said(skipped));
    const begun: Numbers = [];
    for (let i = 0, f = () => i; i < 3; i++) {
        begun.push(f, () => i);
    }
    print(said(begun));
    const asked: Numbers = [];
    for (let i = 0; asked.push(() => i) < 3; i++) {}
    print(said(asked));
    const stepped: Numbers = [];
    for (let i = 0; i < 3; stepped.push(() => i), i++) {}
    print(said(stepped));
    const pairs: Numbers = [];
    for (let [a, { b }] = [0, { b: 5 }]; a < 2; a++, b--) {
        pairs.push(() => a * 10 + b);
    }
    print(said(pairs));
    const inner: Numbers = [];
    for (let i = 0; i < 2; i++) {
        for (let j = 0; j < 2; j++) {
            try {
                if (j === 0 && i === 1) {
                    continue;
                }
                inner.push(() => i * 10 + j);
            } finally {
                inner.push(() => -i);
            }
        }
    }
    print(said(inner));
    const endless: Numbers = [];
    for (let i = 0; ; ) {
        endless.push(() => i);
        if (++i === 2) {
            break;
        }
    }
    print(said(endless));
    const others: (() => number | string)[] = [];
    for (const x of [1, 2]) others.push(() => x);
    for (const key in { k: 1 }) others.push(() => key); // trap-ok
    let n = 0;
    while (n < 2) {
        let own = n++;
        others.push(() => own++);
    }
    do {
        const own = n;
        others.push(() => own);
    } while (n++ < 3);
    print(others.map((f) => f()).join());
    for (let i = 0; i < 2; i++) {
        task.delay(0.02 * (2 - i), () => print("later", i));
    }
    const found = (() => {
        for (let i = 0; i < 5; i++) {
            if ([3].some((x) => x === i)) {
                return i;
            }
        }
        return -1;
    })();
    print(found);
}
