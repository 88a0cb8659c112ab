// The rules of the course: where a player starts again, how long a run took, and the best times, which are
// still there after the world restarts.
import { seconds as inSeconds, type BoardRow } from "../ReplicatedStorage/Format";

const BOARD_ROWS = 5;
// Keys are ids: a name can be somebody else's tomorrow.
const best = DataStore.GetOrderedDataStore("best times"); // UserId → milliseconds
const names = DataStore.GetDataStore("names"); // UserId → name
const began = new Map<number, number>(); // by player: when the run began
const start = World.Find("Start")?.Position.add(Vector3.new(0, 0.5, 0));

function checkpointOf(player: Player): Entity | undefined {
    return World.GetTagged("checkpoint").find(
        (pad) => pad.GetAttribute("stage") === player.leaderstats.Stage,
    );
}

function onSpawned(player: Player, character: Entity): void {
    const pad = checkpointOf(player);
    if (pad !== undefined) {
        character.SetPosition(pad.Position.add(Vector3.new(0, 0.2, 0)));
    } else {
        began.set(player.UserId, World.Time()); // at the start: the time starts again
    }
}

function welcome(player: Player): void {
    player.leaderstats.Stage = 0;
    began.set(player.UserId, World.Time());
    player.Spawned.Connect((character) => onSpawned(player, character));
    print(`${player.Name} is here`);
}

/** The best times, for the board on the screen. */
function board(): BoardRow[] {
    const entries: { key: string; value: number }[] = best.GetSortedAsync(true, BOARD_ROWS);
    return entries.map(({ key, value }) => ({ name: names.GetAsync(key) ?? "?", seconds: value / 1000 }));
}

function onFinish(player: Player): void {
    if (player.leaderstats.Stage === 0) {
        return; // did not touch any checkpoint
    }
    const seconds = World.Time() - (began.get(player.UserId) ?? World.Time());
    player.leaderstats.Stage = 0;
    Chat.Send(`${player.Name} made it in ${inSeconds(seconds)}`);
    const time = Math.floor(seconds * 1000);
    const id = `${player.UserId}`;
    names.SetAsync(id, player.Name);
    best.UpdateAsync(id, (old?: number) => {
        // undefined keeps the old time, which was better.
        return old === undefined || time < old ? time : undefined;
    });
    Network.Broadcast("Board", board());
    task.wait(3);
    player.Spawn(start);
}

Network.OnInvoke("Board", board);

World.Find("Finish")?.TriggerEntered.Connect((other) => {
    if (other.Player !== undefined) {
        onFinish(other.Player);
    }
});

Players.PlayerAdded.Connect(welcome);
Players.PlayerRemoving.Connect((player) => {
    began.delete(player.UserId);
});
for (const player of Players.GetPlayers()) {
    welcome(player); // players who joined before this script started
}
