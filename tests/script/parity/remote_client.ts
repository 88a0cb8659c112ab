// The other end of remote_server.
Network.OnServerEvent("Reply", (v: Vector3, e: Entity) => print("client heard", v, e.Type));
Network.OnServerEvent("All", (x: string) => print("broadcast", x));

export function onStart() {
    Network.FireServer("Hello", Vector3.new(1, 2, 3), { a: [1, "two"] });
    Network.FireServer("Typed", 1, "good");
    Network.FireServer("Typed", "bad", 1);
    const [sum] = Network.Invoke("Add", 2, 3);
    print("sum", sum);
    const [ok] = pcall(() => Network.Invoke("Nobody"));
    print("nobody", ok, Players.LocalPlayer?.Name);
}
