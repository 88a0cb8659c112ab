// Runs on the server when the world starts. `sandlot script api` lists everything it can call.
function welcome(player: Player): void {
    print(`Hello, ${player.Name}!`);
}

Players.PlayerAdded.Connect(welcome);
for (const player of Players.GetPlayers()) {
    welcome(player); // players who joined before this script started
}
