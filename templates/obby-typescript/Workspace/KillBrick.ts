// Red bricks, and the void below the course: whoever touches one begins again at the last checkpoint.
export function OnTriggerEnter(self: Entity, other: Entity): void {
    KillPlayer(); // the one who came in
}
