// Promises: profiles are loaded side by side, with a timeout, and a failure that is handled.
const store = DataStore.GetDataStore<{ coins: number }>("Profiles");

async function load(id: number): Promise<number> {
    const profile = store.GetAsync(tostring(id));
    if (profile === undefined) {
        throw new Error(`no profile ${id}`);
    }
    return profile.coins;
}

async function sleep(seconds: number): Promise<string> {
    task.wait(seconds);
    return "timeout";
}

async function main() {
    for (const id of [1, 2, 3]) {
        store.SetAsync(tostring(id), { coins: 10 * id });
    }
    const coins = await Promise.all([load(1), load(2), load(3)]);
    assert(coins.length === 3 && coins.reduce((sum, each) => sum + each, 0) === 60, "all of them");
    const first = await Promise.race([sleep(0.5), load(2)]);
    assert(first === 20, "the store is faster");
    let failure = "";
    try {
        await load(9);
    } catch (error) {
        failure = error instanceof Error ? error.message : "";
    }
    assert(failure === "no profile 9", failure);
    print("done");
}

export function onStart() {
    void main();
}
