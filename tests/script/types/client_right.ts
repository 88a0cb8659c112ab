// Right uses on a client: everything here compiles, and runs without a fault.
let presses = 0;

function draw() {
    const rows: Widget[] = [
        UI.Text({ text: `pressed ${presses}`, colour: "#ff8800" }),
        UI.Text({ text: "the other spelling", color: "#ff8800" }),
        UI.Bar({ value: presses, max: 10 }),
    ];
    rows.push(UI.Button({
        text: "Press",
        OnClick: () => {
            presses += 1;
            draw();
        },
    }));
    UI.Show(UI.List({ anchor: "top", direction: "down", children: rows }));
}

draw();
Network.OnServerEvent<[coins: number]>("Coins", (coins) => print(coins + 1));
Network.FireServer<[direction: Vector3, power: number]>("Shoot", camera.Forward, 3);
const kind: WidgetKind = UI.Text({ text: "a" }).kind;
if (kind !== "text") {
    error("a widget knows its kind");
}
