// Messages, calls and their answers, and what is declared.
Network.Declare("Typed", { types: ["number", "string"] });

Network.OnClientEvent("Hello", (player: Player, v: Vector3, t: { a: unknown[] }) => {
    print("server heard", player.Name, v, t.a.length);
    Network.FireClient(player, "Reply", v.mul(2), player.Character);
    Network.Broadcast("All", "x");
});
Network.OnClientEvent("Typed", (_player: Player, n: number, s: string) => print("typed", n, s));
Network.OnInvoke("Add", (_player: Player, a: number, b: number) => {
    task.wait(0.1);
    return a + b;
});
Players.PlayerAdded.Connect((player) => print("added", player.Name));
for (const player of Players.GetPlayers()) {
    print("here", player.Name, player.UserId);
}
