// How things look now: rows of clientPaints as looks by id. A look that did not change stays the same
// object, so whoever draws compares objects and not numbers. What would flash too often keeps its old look
// until it may have the new one (flash.ts).
import { PAINT_ROW, type Look } from '../core/bridge.ts';
import { JUMP } from './flash.ts';
import { lightOf } from './looks.ts';

const same = (a: Look, b: Look): boolean =>
    a.colour === b.colour && a.transparency === b.transparency && a.material === b.material &&
    a.visible === b.visible && a.glow === b.glow && a.texture === b.texture && a.model === b.model;

// Who decides whether things may brighten at once, and how they look unpainted.
export interface Light {
    mayFlash: (ids: readonly number[]) => boolean;
    unpainted: (id: number) => Look | undefined;
}
const ANYTHING: Light = { mayFlash: () => true, unpainted: () => undefined };

export class Paints {
    private looks = new Map<number, Look>(); // as they are drawn
    private wanted = new Map<number, Look>(); // as the world has them
    private waiting = new Set<number>(); // those that are not drawn as they are wanted
    private materials: readonly string[] = [];

    reset(materials: readonly string[]): void {
        this.looks.clear();
        this.wanted.clear();
        this.waiting.clear();
        this.materials = materials;
    }

    get(id: number): Look | undefined {
        return this.looks.get(id);
    }

    // All rows there are; the ids whose look is another one, has come or is gone.
    update(rows: Float64Array, light: Light = ANYTHING): Set<number> {
        this.wanted = new Map();
        for (let at = 0; at + PAINT_ROW <= rows.length; at += PAINT_ROW) {
            const [id = 0, colour = 0, transparency = 0, material = 0, visible = 1, glow = 0, texture = 0,
                model = 0] = rows.subarray(at, at + PAINT_ROW);
            const look: Look = {
                colour, transparency, material: this.materials[material] ?? '', visible: visible !== 0,
                glow, texture, model,
            };
            const known = this.looks.get(id);
            this.wanted.set(id, known !== undefined && same(known, look) ? known : look);
        }
        this.waiting = new Set([...this.wanted.keys(), ...this.looks.keys()].filter((id) =>
            this.wanted.get(id) !== this.looks.get(id)));
        return this.settle(light);
    }

    // With each picture: what was held back may be shown now.
    settle(light: Light): Set<number> {
        if (this.waiting.size === 0) {
            return this.waiting;
        }
        const brighter = [...this.waiting].filter((id) => this.brightens(id, light));
        const held = new Set(brighter.length > 0 && !light.mayFlash(brighter) ? brighter : []);
        const changed = new Set([...this.waiting].filter((id) => !held.has(id)));
        for (const id of changed) {
            const look = this.wanted.get(id);
            if (look === undefined) {
                this.looks.delete(id);
            } else {
                this.looks.set(id, look);
            }
        }
        this.waiting = held;
        return changed;
    }

    private brightens(id: number, { unpainted }: Light): boolean {
        const before = this.looks.get(id) ?? unpainted(id);
        const after = this.wanted.get(id) ?? unpainted(id);
        return before !== undefined && after !== undefined && lightOf(after) - lightOf(before) > JUMP;
    }
}
