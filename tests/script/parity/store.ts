// Data that outlives the world, and what is thrown while it is waited for.
export function onStart() {
    const coins = DataStore.GetDataStore("coins");
    coins.SetAsync("ada", { gold: 5, list: [1, 2, 3] });
    const kept: { gold: number; list: number[] } = coins.GetAsync("ada");
    print("kept", kept.gold, kept.list.length);
    print("none", coins.GetAsync("nobody") === undefined);
    const after = coins.UpdateAsync("ada", (old) => ({ ...old, gold: old.gold + 1 }));
    print("after", after.gold);
    print("increment", coins.IncrementAsync("visits", 2), coins.IncrementAsync("visits"));
    const removed = coins.RemoveAsync("ada");
    print("removed", removed.gold);
    const best = DataStore.GetOrderedDataStore("best");
    best.SetAsync("a", 3);
    best.SetAsync("b", 9);
    for (const { key, value } of best.GetSortedAsync(false, 10)) {
        print("best", key, value);
    }
    try {
        coins.SetAsync("bad", () => 1);
    } catch {
        print("refused");
    }
    print(Json.Encode([1, "two", true]), (Json.Decode("[4, 5]") as number[])[1]);
    const random = Random.new(7);
    print(random.NextInteger(1, 100), random.NextInteger(1, 100));
}
