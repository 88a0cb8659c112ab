// Goes up, waits, comes down, waits. scene.json says how far and how fast, in "parameters".
export function onStart(self: Entity): void {
    const rise: number = self.params.rise;
    const seconds: number = self.params.seconds;
    const pause: number = self.params.pause;
    const low = self.Position;
    const high = low.add(Vector3.new(0, rise, 0));

    function ride(goal: Vector3): void {
        self.MoveTo(goal, seconds);
        task.wait(seconds + pause);
    }

    task.spawn(() => {
        while (true) {
            ride(high);
            ride(low);
        }
    });
}
