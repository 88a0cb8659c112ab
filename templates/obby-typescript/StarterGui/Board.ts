// The best times at the top of the screen.
import { seconds, type BoardRow } from "../ReplicatedStorage/Format";

function show(rows: BoardRow[]): void {
    const lines = rows.map(({ name, seconds: time }, index) =>
        UI.Text({ text: `${index + 1}. ${name}  ${seconds(time)}` }),
    );
    UI.Show(UI.List({ anchor: "top", children: [UI.Text({ text: "Best times" }), ...lines] }));
}

Network.OnServerEvent("Board", show); // after every run

export function onStart(): void {
    show(Network.Invoke("Board"));
}
