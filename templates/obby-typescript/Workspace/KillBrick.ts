// Red bricks, and the void below the course: a player who touches one starts again at the last checkpoint.
export function OnTriggerEnter(self: Entity, other: Entity): void {
    KillPlayer(); // the player who touched it
}
