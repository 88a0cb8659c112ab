// What was changed in a scene, if all of it can be done while the place is played (local_host_edit): poses,
// looks and part data of anchored parts, and parts that were removed. For everything else the world is
// made anew.
type Entity = Record<string, unknown> & { id: number };

export interface SceneEdit {
    entities: Entity[];
    removed: number[];
}

const IN_PLACE = new Set(['transform', 'colour', 'transparency', 'material', 'visible', 'glow', 'texture', 'model',
    'trigger', 'ghost', 'ladder', 'bounce', 'damage', 'conveyor']);
const plain = new TextDecoder();

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const isAnchored = ({ type, anchored, motion }: Entity): boolean =>
    (type === undefined || type === 'part') && anchored !== false && motion === undefined;

function differences(old: Entity, now: Entity): string[] {
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !same(old[name], now[name]));
}

// The scene that is played, entity by entity: what was changed is compared with it in as much time as the change needs.
// It is read when the first change comes.
export class PlayedScene {
    private readonly text: Uint8Array;
    private entities: Map<number, Entity> | null = null;
    private readonly children = new Map<number, number>(); // how many each one has

    constructor(text: Uint8Array) {
        this.text = text;
    }

    // `ids`: what is there and may have changed, or is new; `gone`: what is not there any more. Null: it cannot be done in
    // place, and this object is of no more use.
    edit(ids: Iterable<number>, gone: Iterable<number>, entityOf: (id: number) => Entity): SceneEdit | null {
        const known = this.entities ??= this.read();
        const edit: SceneEdit = { entities: [], removed: [] };
        for (const id of gone) {
            const old = known.get(id);
            if (old === undefined || !isAnchored(old)) {
                return null;
            }
            this.count(old, -1);
            known.delete(id);
            edit.removed.push(id);
        }
        for (const id of ids) {
            const [old, now] = [known.get(id), entityOf(id)];
            const changed = old === undefined ? null : differences(old, now);
            if (changed === null || changed.some((name) => !IN_PLACE.has(name))) {
                return null; // it is new, or something else of it has changed
            }
            const moves = changed.includes('transform') && (now['parent'] !== undefined || (this.children.get(id) ?? 0) > 0);
            if (changed.length > 0 && (moves || !isAnchored(now))) {
                return null;
            }
            if (changed.length > 0) {
                known.set(id, now);
                edit.entities.push(now);
            }
        }
        return edit;
    }

    private read(): Map<number, Entity> {
        const { entities = [] } = JSON.parse(plain.decode(this.text)) as { entities?: Entity[] };
        entities.forEach((entity) => this.count(entity, 1));
        return new Map(entities.map((entity) => [entity.id, entity]));
    }

    private count({ parent }: Entity, by: number): void {
        if (typeof parent === 'number') {
            this.children.set(parent, (this.children.get(parent) ?? 0) + by);
        }
    }
}
