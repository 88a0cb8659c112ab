// What was changed in a scene, if all of it can be done while the place is played (local_host_edit): poses,
// looks and part data of anchored parts, attributes and tags, parts that were removed, and new anchored parts without a
// script. For everything else the world is made anew. The world itself refuses what its scripts may already have looked for.
type Entity = Record<string, unknown> & { id: number };

export interface SceneEdit {
    entities: Entity[];
    removed: number[];
    given: Entity[]; // with those attributes and tags alone that are new or other than before
    lost: Entity[]; // with those that are no more
    created: Entity[];
}

const IN_PLACE = new Set(['transform', 'colour', 'transparency', 'material', 'visible', 'glow', 'texture', 'model',
    'trigger', 'ghost', 'ladder', 'bounce', 'damage', 'conveyor']);
const DETAILS = new Set(['attributes', 'tags']);
const CREATED = new Set([...IN_PLACE, ...DETAILS, 'id', 'type', 'name', 'shape', 'anchored']);
const plain = new TextDecoder();

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const isAnchored = ({ type, anchored, motion }: Entity): boolean =>
    (type === undefined || type === 'part') && anchored !== false && motion === undefined;

function differences(old: Entity, now: Entity): string[] {
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !same(old[name], now[name]));
}

// Not stored, for everybody, and of no other entity: numbers, texts, truth values and vectors.
const isPlain = (value: unknown): boolean => typeof value !== 'object' || Array.isArray(value);

const attributesOf = ({ attributes }: Entity): Map<string, unknown> =>
    new Map(Object.entries((attributes ?? {}) as Record<string, unknown>));
const tagsOf = ({ tags }: Entity): string[] => (tags ?? []) as string[];

// What `a` has of attributes and tags and `b` has not so; null: nothing. `isLost`: what `b` has not at all.
function details(a: Entity, b: Entity, isLost: boolean): Entity | null {
    const others = attributesOf(b);
    const attributes = [...attributesOf(a)].filter(([name, value]) => !others.has(name) || (!isLost && !same(value, others.get(name))));
    const tags = tagsOf(a).filter((tag) => !tagsOf(b).includes(tag));
    return attributes.length + tags.length === 0 ? null : { id: a.id, attributes: Object.fromEntries(attributes), tags };
}

export const isEmpty = (edit: SceneEdit): boolean => Object.values(edit).every((list: unknown[]) => list.length === 0);

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
        const edit: SceneEdit = { entities: [], removed: [], given: [], lost: [], created: [] };
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
            if (!(old === undefined ? this.create(now, edit) : this.change(old, now, edit))) {
                return null;
            }
            known.set(id, now);
        }
        return edit;
    }

    private create(now: Entity, edit: SceneEdit): boolean {
        edit.created.push(now);
        return isAnchored(now) && Object.keys(now).every((name) => CREATED.has(name)) && (this.children.get(now.id) ?? 0) === 0 &&
            [...attributesOf(now).values()].every(isPlain);
    }

    private change(old: Entity, now: Entity, edit: SceneEdit): boolean {
        const changed = differences(old, now);
        const looks = changed.filter((name) => !DETAILS.has(name));
        const moves = looks.includes('transform') && (now['parent'] !== undefined || (this.children.get(now.id) ?? 0) > 0);
        if (looks.some((name) => !IN_PLACE.has(name)) || (looks.length > 0 && (moves || !isAnchored(now)))) {
            return false; // something else of it has changed
        }
        if (looks.length > 0) {
            edit.entities.push(now);
        }
        const lists = [[edit.given, details(now, old, false)], [edit.lost, details(old, now, true)]] as const;
        for (const [list, one] of lists) {
            if (one !== null) {
                list.push(one);
            }
        }
        // One that was stored or not for everybody is made anew, even if its value is plain now.
        return lists.every(([, one]) => one === null || [...attributesOf(one).keys()].every((name) =>
            isPlain(attributesOf(old).get(name)) && isPlain(attributesOf(now).get(name))));
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
