// What was changed in a scene, if all of it can be done while the place is played (local_host_edit): poses, looks, part
// data, attributes, tags, what was removed, new parts, props and NPCs, and spawns. What is otherwise in any other way (another
// size, name, motion or script) goes and comes as a new one. For what another one names the world is made
// anew. The world itself refuses what its scripts may already have looked for.
type Entity = Record<string, unknown> & { id: number };
// With everything that it stands on, the lowest first.
type Item = Entity | { entity: Entity; above: Entity[] };

export interface SceneEdit {
    removed: number[];
    entities: Item[];
    lost: Entity[]; // with those attributes and tags alone that are no more
    created: Item[];
    given: Entity[]; // with those attributes and tags alone that are new or other than before
    spawns: Item[]; // that are new or otherwise
    spawnsGone: { id: number }[];
}

const PARENTS_MAX = 32; // place_doc.h
const LOOKS = new Set(['colour', 'transparency', 'material', 'visible', 'glow', 'texture', 'model']);
const DATA = new Set(['trigger', 'ghost', 'ladder', 'bounce', 'damage', 'conveyor']);
const WHERE = new Set(['transform', 'parent']);
const DETAILS = new Set(['attributes', 'tags']);
const plain = new TextDecoder();

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const typeOf = ({ type }: Entity): unknown => type ?? 'part';
const isThing = (entity: Entity): boolean => ['part', 'prop', 'npc'].includes(typeOf(entity) as string);
const isGroup = (entity: Entity): boolean => typeOf(entity) === 'group';
const isSpawn = (entity: Entity): boolean => typeOf(entity) === 'spawn';
// A part that stands still: it may be put elsewhere.
const isStill = (entity: Entity): boolean => typeOf(entity) === 'part' && entity['anchored'] !== false &&
    entity['motion'] === undefined && entity['serverOnly'] !== true;

function differences(old: Entity, now: Entity): string[] {
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !same(old[name], now[name]));
}

const attributesOf = ({ attributes }: Entity): Map<string, unknown> =>
    new Map(Object.entries((attributes ?? {}) as Record<string, unknown>));
const tagsOf = ({ tags }: Entity): string[] => (tags ?? []) as string[];

const isStored = (entity: Entity): boolean => [...attributesOf(entity).values()].some((value) =>
    (value as { persistent?: boolean } | null)?.persistent === true);

// The entities that its attributes name.
function namedBy(entity: Entity): number[] {
    return [...attributesOf(entity).values()].flatMap((value) => {
        const inner = value as { value?: unknown; entity?: unknown } | null;
        const id = ((inner?.value ?? inner) as { entity?: unknown } | null)?.entity;
        return typeof id === 'number' ? [id] : [];
    });
}

// What `a` has of attributes and tags and `b` has not so; null: nothing. `isLost`: what `b` has not at all.
function details(a: Entity, b: Entity, isLost: boolean): Entity | null {
    const others = attributesOf(b);
    const attributes = [...attributesOf(a)].filter(([name, value]) => !others.has(name) || (!isLost && !same(value, others.get(name))));
    const tags = tagsOf(a).filter((tag) => !tagsOf(b).includes(tag));
    return attributes.length + tags.length === 0 ? null : { id: a.id, attributes: Object.fromEntries(attributes), tags };
}

export const isEmpty = (edit: SceneEdit): boolean => Object.values(edit).every((list: unknown[]) => list.length === 0);

// What happens to each entity, before it is known where everything stands.
interface Plan {
    removed: Set<number>;
    changed: Set<number>;
    created: Set<number>;
    moved: number[]; // with all that stands on them
    details: [old: Entity, now: Entity][];
    spawns: Set<number>;
    spawnsGone: Set<number>;
}

// The scene that is played, entity by entity: what was changed is compared with it in as much time as the change needs.
// It is read when the first change comes.
export class PlayedScene {
    private readonly text: Uint8Array;
    private entities: Map<number, Entity> | null = null;
    private readonly children = new Map<number, Set<number>>();
    private readonly named = new Set<number>(); // by attributes of others, now or before

    constructor(text: Uint8Array) {
        this.text = text;
    }

    // `ids`: what is there and may have changed, or is new; `gone`: what is not there any more. Null: it cannot be done in
    // place, and this object is of no more use.
    edit(ids: Iterable<number>, gone: Iterable<number>, entityOf: (id: number) => Entity): SceneEdit | null {
        const known = this.entities ??= this.read();
        const plan: Plan = { removed: new Set(), changed: new Set(), created: new Set(), moved: [], details: [], spawns: new Set(), spawnsGone: new Set() };
        const nows = [...ids].map(entityOf);
        const isDone = [...gone].every((id) => this.remove(known, id, plan)) &&
            nows.every((now) => this.compare(known, now, plan));
        nows.forEach((now) => namedBy(now).forEach((id) => this.named.add(id)));
        return isDone && plan.moved.every((id) => this.carry(known, id, plan)) ? this.write(known, plan) : null;
    }

    private remove(known: Map<number, Entity>, id: number, plan: Plan): boolean {
        const old = known.get(id);
        if (old === undefined) {
            return true; // it came and went since the last time
        }
        this.link(old, false);
        known.delete(id);
        if (!isGroup(old)) {
            (isSpawn(old) ? plan.spawnsGone : plan.removed).add(id);
        }
        return !isSpawn(old) || !this.named.has(id);
    }

    private compare(known: Map<number, Entity>, now: Entity, plan: Plan): boolean {
        const old = known.get(now.id);
        known.set(now.id, now);
        if (old !== undefined) {
            this.link(old, false);
        }
        this.link(now, true);
        if (old !== undefined && same(old, now)) {
            return true;
        }
        if (old !== undefined && (isThing(now) ? !isThing(old) : typeOf(now) !== typeOf(old))) {
            return false; // something else by the same id
        }
        if (!isThing(now)) {
            plan.moved.push(now.id);
            return isGroup(now) || this.putSpawn(now.id, plan, old === undefined);
        }
        if (old === undefined) {
            plan.created.add(now.id);
            return !this.named.has(now.id) && now['serverOnly'] !== true;
        }
        return this.change(old, now, plan);
    }

    private putSpawn(id: number, plan: Plan, isNew: boolean): boolean {
        plan.spawns.add(id);
        return !isNew || !this.named.has(id);
    }

    private change(old: Entity, now: Entity, plan: Plan): boolean {
        const names = differences(old, now).filter((name) => !DETAILS.has(name));
        const mayChange = (name: string): boolean => LOOKS.has(name) || (DATA.has(name) && typeOf(now) === 'part') ||
            (WHERE.has(name) && isStill(now));
        if (names.some((name) => WHERE.has(name))) {
            plan.moved.push(now.id);
        }
        if (!names.every(mayChange)) {
            return this.replace(old, now, plan);
        }
        if (names.length > 0) {
            plan.changed.add(now.id);
        }
        plan.details.push([old, now]);
        return true;
    }

    // It would not be the same one for who names it, and what was stored of it would be lost.
    private replace(old: Entity, now: Entity, plan: Plan): boolean {
        plan.removed.add(now.id);
        plan.created.add(now.id);
        plan.changed.delete(now.id);
        return !this.named.has(now.id) && !isStored(old) && !isStored(now) && old['serverOnly'] !== true && now['serverOnly'] !== true;
    }

    // What stands on something that moved.
    private carry(known: Map<number, Entity>, id: number, plan: Plan): boolean {
        return [...this.children.get(id) ?? []].every((child) => {
            const now = known.get(child)!;
            if (isSpawn(now)) {
                plan.spawns.add(child);
            } else if (isStill(now) && !plan.created.has(child)) {
                plan.changed.add(child);
            } else if (!isGroup(now) && !plan.created.has(child) && !this.replace(now, now, plan)) {
                return false;
            }
            return this.carry(known, child, plan);
        });
    }

    private write(known: Map<number, Entity>, plan: Plan): SceneEdit | null {
        const items = (ids: Set<number>): (Item | null)[] => [...ids].map((id) => this.item(known, known.get(id)!));
        const [entities, created, spawns] = [items(plan.changed), items(plan.created), items(plan.spawns)];
        const kept = plan.details.filter(([{ id }]) => !plan.created.has(id));
        const all = (isLost: boolean): Entity[] => kept.map(([old, now]) => isLost ? details(old, now, true) : details(now, old, false))
            .filter((one) => one !== null);
        return [...entities, ...created, ...spawns].includes(null) ? null : {
            removed: [...plan.removed], entities: entities as Item[], lost: all(true), created: created as Item[], given: all(false),
            spawns: spawns as Item[], spawnsGone: [...plan.spawnsGone].map((id) => ({ id })),
        };
    }

    private item(known: Map<number, Entity>, entity: Entity): Item | null {
        const above: Entity[] = [];
        for (let at: Entity | undefined = entity; at?.['parent'] !== undefined;) {
            at = known.get(at['parent'] as number);
            if (at === undefined || above.length === PARENTS_MAX) {
                return null; // whoever compiles it says what is wrong
            }
            above.unshift({ id: at.id, ...(at['transform'] === undefined ? {} : { transform: at['transform'] }) });
        }
        return above.length === 0 ? entity : { entity, above };
    }

    private read(): Map<number, Entity> {
        const { entities = [] } = JSON.parse(plain.decode(this.text)) as { entities?: Entity[] };
        for (const entity of entities) {
            this.link(entity, true);
            namedBy(entity).forEach((id) => this.named.add(id));
        }
        return new Map(entities.map((entity) => [entity.id, entity]));
    }

    private link({ id, parent }: Entity, isThere: boolean): void {
        if (typeof parent !== 'number') {
            return;
        }
        const children = this.children.get(parent) ?? new Set();
        this.children.set(parent, isThere ? children.add(id) : (children.delete(id), children));
    }
}
