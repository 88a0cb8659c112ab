// The best times at the top of the screen.
import { seconds, type BoardRow } from "../ReplicatedStorage/Format";

function show(rows: BoardRow[]): void {
    const lines: Widget[] & ListOptions = [UI.Text({ text: "Best times" })];
    lines.anchor = "top";
    if (rows.length === 0) {
        lines.push(UI.Text({ text: "Nobody has finished yet" }));
    }
    rows.forEach((row, index) => {
        lines.push(UI.Text({ text: `${index + 1}. ${row.name}  ${seconds(row.seconds)}` }));
    });
    UI.Show(UI.List(lines));
}

Network.OnServerEvent("Board", show); // after every run

export function onStart(): void {
    const [rows] = Network.Invoke("Board");
    show(rows);
}
