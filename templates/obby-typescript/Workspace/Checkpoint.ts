// A green pad: remembers how far a player has come. Game.ts puts new bodies there.
export function OnTriggerEnter(self: Entity, other: Entity): void {
    const player = other.Player;
    const stage: number = self.GetAttribute("stage");
    if (player !== undefined && stage > (player.leaderstats.Stage ?? 0)) {
        player.leaderstats.Stage = stage;
        Chat.Send(`Checkpoint ${stage}!`, player);
    }
}
