// At most three flashes a second, over everything that scripts show: more can hurt people. A flash is
// something bright that appears at once. What may not flash now brightens slowly instead, so slowly that
// switching it on and off is no flash either. Knows nothing of the screen.
export const FLASHES_A_SECOND = 3;
export const LARGE_SHARE = 0.1; // of the picture: what is smaller may change as it likes
export const JUMP = 0.2; // a rise in brightness that is a flash when it is sudden
const RISE_A_SECOND = 0.5; // without a flash; in a sixth of a second less than a tenth

export class FlashGuard {
    flashes = 0; // since the page was opened
    held = 0; // those that were not allowed
    private readonly times = new Float64Array(FLASHES_A_SECOND).fill(-Infinity);
    private next = 0;

    // Something wants to flash now, in seconds of any clock that goes forwards.
    allow(now: number): boolean {
        if (now - (this.times[this.next] ?? 0) < 1) {
            this.held += 1;
            return false;
        }
        this.times[this.next] = now;
        this.next = (this.next + 1) % FLASHES_A_SECOND;
        this.flashes += 1;
        return true;
    }

    // How bright something is now that is to be that bright, and was `shown` before.
    brightness(shown: number, wanted: number, now: number, seconds: number): number {
        if (wanted <= shown || (wanted - shown > JUMP && this.allow(now))) {
            return wanted;
        }
        return Math.min(wanted, shown + RISE_A_SECOND * seconds);
    }
}

// A value on its way to another one, by at most so much a second.
export const approach = (now: number, goal: number, most: number): number =>
    now < goal ? Math.min(goal, now + most) : Math.max(goal, now - most);
