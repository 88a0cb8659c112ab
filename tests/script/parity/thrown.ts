// Errors that are told elsewhere than where they are thrown: each names its own line. A script that
// fails too often is paused, so there are a few for each entity.
class Failure extends Error {
    constructor(code: number) {
        super(`code ${code}`);
        this.name = "Failure";
    }
}
function* generator(): Generator<number> {
    yield 1;
    const nothing: any = undefined;
    yield nothing.x.y;
}
function* thrower(): Generator<number> {
    yield 1;
    throw new Failure(16);
}
async function reads(): Promise<void> {
    task.wait(0.02);
    const nothing: any = undefined;
    print(nothing.x.y);
}
async function calls(): Promise<void> {
    await reads();
}
async function throwsText(): Promise<void> {
    await Promise.resolve();
    task.wait(0.02);
    throw "a text";
}
const cases: Record<string, (() => void)[]> = {
    Door: [
        () => print([...generator()]),
        () => {
            for (const x of thrower()) print(x);
        },
    ],
    Platform: [() => void calls(), () => void throwsText()],
    Zone: [
        () =>
            void new Promise((_, reject) => {
                reject(new TypeError("in an executor"));
            }),
        () => void Promise.reject(),
    ],
    Button: [
        () => {
            throw new Failure(48);
        },
        async () => {
            throw new Failure(51);
        },
    ],
};
export function onStart(self: Entity) {
    for (const [i, run] of (cases[self.Name] ?? []).entries()) {
        task.delay(0.1 + i, run);
    }
}
