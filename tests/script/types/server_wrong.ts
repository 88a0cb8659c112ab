// Wrong uses: each line with the mark is an error, and no other.
const store = DataStore.GetDataStore<{ coins: number }>("Profiles");
const scored = Signal.new<[name: string, points: number]>();

scored.Fire(3, "Ada"); // wrong
scored.Connect((name) => print(name.coins)); // wrong
World.GetInRadius(Vector3.new(), 5, "Palyer"); // wrong
World.GetInRadius(Vector3.new(), "5"); // wrong
const made = new Vector3("1"); // wrong
const number = made.add(5); // wrong
store.SetAsync("a", { coin: 5 }); // wrong
store.SetAsync(5, { coins: 5 }); // wrong
const coins: string = store.GetAsync("a")?.coins; // wrong
Network.OnClientEvent<[power: number]>("Shoot", (player, power) => print(player.Name, power.length)); // wrong
Network.Broadcast<[power: number]>("Shoot", "much"); // wrong
Players.PlayerAdded.Connect((player) => {
    player.leaderstats.Coins = "five"; // wrong
    player.vip = true; // wrong
    player.Nam; // wrong
    player.Character.Health; // wrong
});
const door = World.Find("Door");
if (door !== undefined) {
    door.Postion = Vector3.new(); // wrong
    door.Type = "Part"; // wrong
    if (door.Type === "Prat") { // wrong
        print(number, coins);
    }
    const [state] = Npc.GetState(door);
    print(state === "Sleeping"); // wrong
}
