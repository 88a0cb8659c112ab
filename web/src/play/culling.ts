// What is too far away is not drawn, by chunks: parts of a cell, terrain of a chunk. What lies beside the
// picture is left out by three.js, which has the sphere around each of them.

interface Point {
    x: number;
    y: number;
    z: number;
}

export interface Chunk {
    group: { visible: boolean };
    sphere(): { center: Point; radius: number } | null; // null: nobody knows; it is drawn
}

// Shows or hides it. Returns how far away its nearest point can be; 0: one may be in it.
export function cullChunk({ group, sphere }: Chunk, eye: Point, reach: number): number {
    const around = sphere();
    const distance = around === null ? 0 : Math.max(0, Math.hypot(around.center.x - eye.x,
        around.center.y - eye.y, around.center.z - eye.z) - around.radius);
    group.visible = distance < reach;
    return distance;
}

// What waits to be uploaded, the oldest first; of two versions of the same only the newer one.
export class UploadQueue<T> {
    private readonly waiting = new Map<string, T>();

    get size(): number {
        return this.waiting.size;
    }

    put(key: string, value: T): void {
        this.waiting.delete(key);
        this.waiting.set(key, value);
    }

    // At most so many of those that `costs`; what costs nothing does not count.
    take(most: number, costs: (value: T) => boolean): [string, T][] {
        const taken: [string, T][] = [];
        let count = 0;
        for (const [key, value] of this.waiting) {
            if (costs(value)) {
                if (count === most) {
                    break;
                }
                count += 1;
            }
            taken.push([key, value]);
            this.waiting.delete(key);
        }
        return taken;
    }

    clear(): void {
        this.waiting.clear();
    }
}
