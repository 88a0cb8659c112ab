// async, await, promises and generators, with everything in them that waits.
async function pause(name: string, seconds: number): Promise<string> {
    task.wait(seconds);
    return name;
}

const done = Signal.new();
const objects = {
    async later(x: number) {
        task.wait();
        return x;
    },
};

class Worker {
    constructor(private readonly name: string) {}
    async work(): Promise<string> {
        const first = await pause(this.name, 0.1);
        const second = await objects.later(2);
        return first + second;
    }
}

async function tries(): Promise<number> {
    for (let i = 0; i < 4; i++) {
        try {
            if (i === 1) {
                continue;
            }
            task.wait(0.05);
            if (i === 3) {
                return i;
            }
            throw new RangeError(`no ${i}`);
        } catch (error) {
            print("caught", (error as Error).message);
        } finally {
            print("finally", i);
        }
    }
    return -1;
}

async function stores(): Promise<number> {
    const coins = DataStore.GetDataStore("coins");
    coins.SetAsync("ada", 5);
    await pause("x", 0.05);
    const kept: number = coins.GetAsync("ada");
    return kept + (await objects.later(1));
}

async function deep(n: number): Promise<number> {
    if (n === 0) {
        task.wait(0.05);
        return 0;
    }
    return 1 + (await deep(n - 1));
}

function* numbers(to: number): Generator<number, string, number | undefined> {
    let sum = 0;
    for (let i = 1; i <= to; i++) {
        sum += (yield i) ?? 0;
    }
    return `sum ${sum}`;
}

function* slow(): Generator<number> {
    yield 1;
    task.wait(0.05);
    yield 2;
    try {
        yield 3;
        task.wait(0.05);
    } finally {
        print("slow ends");
    }
}

function* both(): Generator<number | string> {
    const said = yield* numbers(2);
    yield said;
    yield* [7, 8];
    yield* slow();
}

function* fails(): Generator<number> {
    yield 1;
    throw new TypeError("in a generator");
}

async function main() {
    print(await pause("first", 0.1), await 5);
    const all = await Promise.all([pause("a", 0.2), new Worker("b").work(), objects.later(3)]);
    print(all.join());
    print("tries", await tries());
    print("stores", await stores());
    print("deep", await deep(40));
    print(await Promise.race([pause("slow", 0.5), pause("fast", 0.05)]));
    const settled = await Promise.allSettled([pause("ok", 0), Promise.reject("not")]);
    print(settled.map(({ status }) => status).join());
}

function generators() {
    const one = numbers(2);
    print(one.next().value, one.next(5).value, one.next(6).value, one.next().done);
    const list = [...both()];
    print(list.join());
    for (const x of slow()) {
        if (x === 2) {
            break;
        }
    }
    const failing = fails();
    print(failing.next().done);
    try {
        failing.next();
    } catch (error) {
        print("caught", (error as Error).message);
    }
    print(failing.next().done);
}

export function onStart() {
    generators();
    print("goes on");
    task.wait(1); // a script prints so many lines a second
    main()
        .then(() => print("main ends"))
        .finally(() => done.Fire());
    done.Wait();
    print("through");
}
