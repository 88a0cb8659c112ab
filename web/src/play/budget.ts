// How much of the place's own files is held decoded at once: pictures and models, in bytes of the
// graphics card. When there is no room, what was seen least recently goes first; what is in sight stays,
// and what would not fit beside it is refused.

export const DECODED_BYTES_MAX = 128 * 1024 * 1024;
const FRESH_MS = 2000; // seen so short ago, it counts as in sight

interface Item {
    bytes: number;
    seenMs: number; // Infinity: it is held
    holders: number;
    drop: () => void;
}

// A picture with the smaller forms of it that are drawn far away.
export const pictureBytes = (width: number, height: number): number =>
    Math.ceil(width * height * 4 * 4 / 3);

export class Budget {
    private readonly most: number;
    private readonly items = new Map<string, Item>();
    used = 0;

    constructor(most = DECODED_BYTES_MAX) {
        this.most = most;
    }

    // False: there is no room, and nothing has changed. `drop` is called when it must go; it is not
    // counted any more then.
    add(key: string, bytes: number, nowMs: number, drop: () => void): boolean {
        this.remove(key);
        const old = [...this.items].filter(([, { seenMs }]) => nowMs - seenMs > FRESH_MS)
            .sort(([, a], [, b]) => a.seenMs - b.seenMs);
        const free = this.most - this.used + old.reduce((sum, [, item]) => sum + item.bytes, 0);
        if (bytes > free) {
            return false;
        }
        for (const [name, item] of old) {
            if (this.used + bytes <= this.most) {
                break;
            }
            this.remove(name);
            item.drop();
        }
        this.items.set(key, { bytes, seenMs: nowMs, holders: 0, drop });
        this.used += bytes;
        return true;
    }

    // It is drawn at this time.
    see(key: string, nowMs: number): void {
        const item = this.items.get(key);
        if (item !== undefined && item.holders === 0) {
            item.seenMs = nowMs;
        }
    }

    // Room that stays until as many have released it as hold it. False: there is none.
    hold(key: string, bytes: number, nowMs: number): boolean {
        if (!this.items.has(key) && !this.add(key, bytes, nowMs, () => undefined)) {
            return false;
        }
        const item = this.items.get(key);
        if (item !== undefined) {
            item.holders += 1;
            item.seenMs = Infinity;
        }
        return true;
    }

    release(key: string): void {
        const item = this.items.get(key);
        if (item !== undefined) {
            item.holders -= 1;
            if (item.holders <= 0) {
                this.remove(key);
            }
        }
    }

    // Its owner has let go of it.
    remove(key: string): void {
        this.used -= this.items.get(key)?.bytes ?? 0;
        this.items.delete(key);
    }
}
