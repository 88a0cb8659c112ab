// Files that things in the world are drawn with: which things use which file, when one of them is in
// sight and the file is fetched, and when it has to make room for others again. What is done with a file
// (a picture, a model) is its owner's business.
//
//   away ─ in sight ─▶ loading ─▶ here ─ not seen, no room ─▶ away
//                         └─▶ failed (the list of assets is another) ─▶ away
import { type Asset, type AssetKind, type Assets, Reported } from './assets.ts';
import type { Budget } from './budget.ts';
import { words } from '../ui/words.ts';

const LOOK_MS = 250; // how often it is looked at what is in sight
const AGAIN_MS = 10_000; // after there was no room

// Is something of that size around that point in the picture?
export type Sees = (x: number, y: number, z: number, radius: number) => boolean;

export interface Held<T> {
    value: T;
    bytes: number; // on the graphics card
    dispose: () => void;
}

interface Entry<T> {
    phase: 'away' | 'loading' | 'here' | 'failed';
    held: Held<T> | null;
    users: Map<number, [number, number, number, number]>; // where each thing is, and how far it reaches
    notBeforeMs: number;
}

export interface WantedConfig<T> {
    assets: Assets;
    budget: Budget;
    kinds: readonly AssetKind[];
    // What went wrong is thrown, in words for the creator.
    load: (asset: Asset) => Promise<Held<T>>;
    // These things are drawn otherwise from now on.
    changed: (ids: number[]) => void;
}

function isSeen(users: ReadonlyMap<number, [number, number, number, number]>, sees: Sees): boolean {
    for (const at of users.values()) {
        if (sees(...at)) {
            return true;
        }
    }
    return false;
}

export class Wanted<T> {
    private readonly config: WantedConfig<T>;
    private entries = new Map<number, Entry<T>>(); // by the asset's number
    private readonly owners = new Map<number, number>(); // by thing, the asset's number
    private lookedMs = -Infinity;

    constructor(config: WantedConfig<T>) {
        this.config = config;
    }

    // The file for a thing at this place; null while it is not here.
    use(number: number, id: number, x: number, y: number, z: number, radius: number): T | null {
        if (this.owners.get(id) !== number) {
            this.leave(id);
            this.owners.set(id, number);
        }
        let entry = this.entries.get(number);
        if (entry === undefined) {
            entry = { phase: 'away', held: null, users: new Map(), notBeforeMs: 0 };
            this.entries.set(number, entry);
        }
        const at = entry.users.get(id);
        if (at === undefined) {
            entry.users.set(id, [x, y, z, radius]);
        } else {
            at[0] = x;
            at[1] = y;
            at[2] = z;
            at[3] = radius;
        }
        return entry.held?.value ?? null;
    }

    leave(id: number): void {
        this.entries.get(this.owners.get(id) ?? 0)?.users.delete(id);
        this.owners.delete(id);
    }

    // Fetches what is in sight and not here, and remembers what is in sight. Call it with each picture.
    look(sees: Sees, nowMs: number): void {
        if (nowMs - this.lookedMs < LOOK_MS || this.config.assets.list.value === null) {
            return;
        }
        this.lookedMs = nowMs;
        for (const [number, entry] of this.entries) {
            const isDue = entry.phase === 'here' ||
                (entry.phase === 'away' && nowMs >= entry.notBeforeMs);
            if (!isDue || !isSeen(entry.users, sees)) {
                continue;
            }
            if (entry.phase === 'here') {
                this.config.budget.see(`file ${number}`, nowMs);
            } else {
                void this.load(number, entry);
            }
        }
    }

    // Something that is not here yet may be in sight by now: look has to be called once more.
    get isDue(): boolean {
        return [...this.entries.values()].some(({ phase, users }) => phase === 'away' && users.size > 0);
    }

    // Another list of files, or another scene: nothing of this one is kept.
    clear(): void {
        const old = this.entries;
        this.entries = new Map();
        this.owners.clear();
        for (const [number, { held }] of old) {
            this.config.budget.remove(`file ${number}`);
            held?.dispose();
        }
    }

    // The list of files is another one: things stay, and are drawn anew.
    renew(): void {
        const users = [...this.entries.values()].flatMap((entry) => [...entry.users.keys()]);
        this.clear();
        this.config.changed(users);
    }

    private async load(number: number, entry: Entry<T>): Promise<void> {
        const { assets, budget, kinds } = this.config;
        const asset = assets.at(number, kinds);
        entry.phase = 'failed';
        if (asset === null) {
            return;
        }
        entry.phase = 'loading';
        let held: Held<T>;
        try {
            held = await this.config.load(asset);
        } catch (error) {
            entry.phase = 'failed';
            if (!(error instanceof Reported)) {
                assets.fail(asset.path, error instanceof Error ? error.message : String(error));
            }
            return;
        }
        if (this.entries.get(number) !== entry) {
            held.dispose();
            return;
        }
        if (!budget.add(`file ${number}`, held.bytes, this.lookedMs,
            () => this.drop(number, entry))) {
            held.dispose();
            entry.phase = 'away';
            entry.notBeforeMs = this.lookedMs + AGAIN_MS;
            assets.fail(asset.path, words.assets.tooMuch);
            return;
        }
        entry.phase = 'here';
        entry.held = held;
        this.config.changed([...entry.users.keys()]);
    }

    private drop(number: number, entry: Entry<T>): void {
        const { held } = entry;
        entry.phase = 'away';
        entry.held = null;
        this.config.changed([...entry.users.keys()]); // nothing draws with it any more
        held?.dispose();
        if (entry.users.size === 0) {
            this.entries.delete(number);
        }
    }
}
