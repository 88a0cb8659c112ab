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

// Null: it cannot be done in place.
export function sceneEdit(before: Uint8Array, after: Uint8Array): SceneEdit | null {
    const { entities: olds = [], ...oldRest } = JSON.parse(plain.decode(before)) as { entities?: Entity[] };
    const { entities: nows = [], ...rest } = JSON.parse(plain.decode(after)) as { entities?: Entity[] };
    if (!same(oldRest, rest)) {
        return null;
    }
    const left = new Map(olds.map((entity) => [entity.id, entity]));
    const parents = new Set(nows.map(({ parent }) => parent));
    const edit: SceneEdit = { entities: [], removed: [] };
    for (const now of nows) {
        const old = left.get(now.id);
        left.delete(now.id);
        const changed = old === undefined ? null : differences(old, now);
        if (changed === null || changed.some((name) => !IN_PLACE.has(name))) {
            return null; // it is new, or something else of it has changed
        }
        if (changed.length > 0) {
            const moves = changed.includes('transform') && (now['parent'] !== undefined || parents.has(now.id));
            if (moves || !isAnchored(now)) {
                return null;
            }
            edit.entities.push(now);
        }
    }
    for (const gone of left.values()) {
        if (!isAnchored(gone)) {
            return null;
        }
        edit.removed.push(gone.id);
    }
    return edit;
}
