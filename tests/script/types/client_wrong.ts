// Wrong uses on a client: each line with the mark is an error, and no other.
UI.Show(UI.Text({ txt: "a" })); // wrong
UI.Show(UI.Button({ text: "a", onClick: () => print(1) })); // wrong
UI.Show(UI.List({ anchor: "topp", children: [] })); // wrong
UI.Show(UI.List({ direction: "up" })); // wrong
UI.Show(UI.List({ children: ["a"] })); // wrong
UI.Show({ kind: "window" }); // wrong
camera.Position = Vector3.new(); // wrong
Network.FireServer<[power: number]>("Shoot", "much"); // wrong
Network.OnServerEvent<[coins: number]>("Coins", (coins: string) => print(coins)); // wrong
