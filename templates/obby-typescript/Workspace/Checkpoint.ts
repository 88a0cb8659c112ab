// A green pad: remembers the last checkpoint of a player. Game.ts lets the player start there again.
export function OnTriggerEnter(self: Entity, other: Entity): void {
    const player = other.Player;
    const stage: number = self.GetAttribute("stage");
    if (player !== undefined && stage > (player.leaderstats.Stage ?? 0)) {
        player.leaderstats.Stage = stage;
        Chat.Send(`Checkpoint ${stage}!`, player);
    }
}
