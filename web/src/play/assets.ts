// The place's own files: pictures, sounds and models (docs/FORMATS.md, "assets.json"). The page knows
// the list of them, finds one by the name that a script or a scene uses, and fetches it by its hash
// when it is needed. Whoever decodes one (pictures.ts, models.ts, sounds) asks here for the bytes.
//
//   /api/assets ─▶ list ─▶ find, at ─▶ bytes: /blob/<sha256>, a few at once, tried again when cut
import { signal } from '@preact/signals';

import type { Asset, AssetKind } from '../core/asset.ts';
import { NotThere, Partial, fetchBlob } from '../core/fetch.ts';
import { words } from '../ui/words.ts';

const AT_ONCE = 3; // requests at the same time: downloads must not delay what happens in the world
const BACKOFF_MS = [300, 1000, 3000, 6000];
const LIST_MAX = 4000;
const FILE_BYTES_MAX = 64 * 1024 * 1024; // as a build allows (docs/FORMATS.md, "Packages")
const FAILED_MAX = 200; // names that are remembered, so that each is reported once

export type { Asset, AssetKind };

export const PICTURES: readonly AssetKind[] = ['png', 'jpeg'];
export const SOUNDS: readonly AssetKind[] = ['ogg', 'wav'];
export const MODELS: readonly AssetKind[] = ['glb', 'gltf'];

// What a player is shown while files arrive. It counts from when nothing was missing.
export interface AssetProgress {
    files: number;
    filesHave: number;
    bytes: number;
    bytesHave: number;
    current: string; // the path of one that is on its way
}

export const assetUrl = ({ hash, url }: Asset): string => url ?? `/blob/${hash}`;

const KINDS: readonly string[] = [...PICTURES, ...SOUNDS, ...MODELS, 'bin'];

const count = (value: unknown, most: number): number =>
    typeof value === 'number' && value >= 0 && value <= most ? value : 0;

// One of the list; null for what a list of ours never has.
function readAsset(value: unknown): Asset | null {
    const { path, hash, kind, size_bytes, width, height, triangles, seconds } =
        value as Record<string, unknown>;
    const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(String(hash)) ?? [];
    return typeof path !== 'string' || hex === undefined || !KINDS.includes(String(kind)) ? null : {
        path, hash: hex, kind: kind as AssetKind, bytes: count(size_bytes, FILE_BYTES_MAX),
        width: count(width, 4096), height: count(height, 4096),
        triangles: count(triangles, 1e6), seconds: count(seconds, 1e4),
    };
}

// Nothing is skipped, because things name an asset by its place in the list.
export function readList(value: unknown): Asset[] {
    const assets = (value as { assets?: unknown } | null)?.assets;
    const list = Array.isArray(assets) ? assets.slice(0, LIST_MAX).map((each: unknown) =>
        typeof each === 'object' && each !== null ? readAsset(each) : null) : [null];
    if (list.some((asset) => asset === null)) {
        throw new Error('the list of assets is damaged');
    }
    return list as Asset[];
}

// "assets/door.png" may also be called "door.png", and "door" among pictures.
function namesOf({ path }: Asset): string[] {
    const short = path.replace(/^assets\//, '');
    return [path, short, short.replace(/\.[^./]*$/, '')];
}

// Its creator knows of it already.
export class Reported extends Error {}

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export class Assets {
    readonly list = signal<readonly Asset[] | null>(null); // null: not known yet
    readonly progress = signal<AssetProgress>(
        { files: 0, filesHave: 0, bytes: 0, bytesHave: 0, current: '' });
    private readonly report: (asset: string, message: string) => void;
    private names = new Map<AssetKind, Map<string, Asset>>();
    private readonly failed = new Set<string>();
    private readonly queue: (() => void)[] = [];
    private running = 0;
    private asked = 0; // how often the list was asked for; an older answer is not used

    // `report` tells the place's creator, who alone can do something about it.
    constructor(report: (asset: string, message: string) => void) {
        this.report = report;
    }

    // The list of that place ('': the host's own). Asked for again with each welcome, because a world
    // that starts again may have other files; a list that is the same changes nothing.
    async open(placeId: string): Promise<void> {
        const query = placeId === '' ? '' : `?place=${encodeURIComponent(placeId)}`;
        this.asked += 1;
        const turn = this.asked;
        for (const pause of [...BACKOFF_MS, 0]) {
            try {
                const answer = await fetch(`/api/assets${query}`, { cache: 'no-cache' });
                const list = answer.ok ? readList(await answer.json())
                    : answer.status === 404 ? [] : null;
                if (list !== null || turn !== this.asked) {
                    this.use(turn, list ?? []);
                    return;
                }
            } catch (error) {
                if (pause === 0 || turn !== this.asked) {
                    this.fail('/api/assets', words.assets.listFailed(String(error)));
                    break;
                }
            }
            await wait(pause);
        }
        this.use(turn, []);
    }

    // The list of a place that is being made: its page knows it.
    give(list: Asset[]): void {
        this.asked += 1;
        this.use(this.asked, list);
    }

    private use(turn: number, list: Asset[]): void {
        if (turn !== this.asked ||
            JSON.stringify(list) === JSON.stringify(this.list.value)) {
            return;
        }
        this.names = new Map();
        for (const asset of list) {
            const names = this.names.get(asset.kind) ?? new Map<string, Asset>();
            this.names.set(asset.kind, names);
            for (const name of namesOf(asset)) {
                names.set(name, names.get(name) ?? asset); // the first by path
            }
        }
        this.failed.clear();
        this.list.value = list;
    }

    // By a name that a script uses, among files of those kinds. Null: there is none, and if the list
    // is known, its creator is told.
    find(name: string, kinds: readonly AssetKind[]): Asset | null {
        const found = kinds.map((kind) => this.names.get(kind)?.get(name))
            .find((asset) => asset !== undefined);
        if (found === undefined && this.list.value !== null && name !== '') {
            this.fail(name, words.assets.unknown(kinds[0] ?? ''));
        }
        return found ?? null;
    }

    // By its number: 1 + its place in the list; 0 is none.
    at(number: number, kinds: readonly AssetKind[]): Asset | null {
        const asset = number > 0 ? this.list.value?.[number - 1] : undefined;
        if (asset === undefined || !kinds.includes(asset.kind)) {
            if (number > 0 && this.list.value !== null) {
                this.fail(asset?.path ?? `#${number}`, words.assets.unknown(kinds[0] ?? ''));
            }
            return null;
        }
        return asset;
    }

    // Once for each asset and reason.
    fail(name: string, message: string): void {
        const key = `${name}: ${message}`;
        if (!this.failed.has(key) && this.failed.size < FAILED_MAX) {
            this.failed.add(key);
            this.report(name, key);
        }
    }

    // Its bytes; fails after a few attempts, and says so to the creator. The browser keeps them for the
    // next visit.
    async bytes(asset: Asset): Promise<Uint8Array<ArrayBuffer>> {
        const done = this.begin(asset);
        await this.turn();
        try {
            return await this.fetch(asset);
        } catch (error) {
            this.fail(asset.path, words.assets.fetchFailed(String(error)));
            throw new Reported(String(error));
        } finally {
            this.running -= 1;
            this.queue.shift()?.();
            done();
        }
    }

    // Counts a file that somebody else fetches, as an <img> does; call the result when it is over.
    begin(asset: Asset): () => void {
        const { files, bytes } = this.progress.value;
        this.progress.value = {
            ...this.progress.value, files: files + 1, bytes: bytes + asset.bytes,
            current: asset.path,
        };
        let isOver = false;
        return () => {
            if (!isOver) {
                isOver = true;
                this.end(asset);
            }
        };
    }

    private end(asset: Asset): void {
        const { files, filesHave, bytes, bytesHave, current } = this.progress.value;
        this.progress.value = filesHave + 1 === files
            ? { files: 0, filesHave: 0, bytes: 0, bytesHave: 0, current: '' }
            : { files, filesHave: filesHave + 1, bytes, bytesHave: bytesHave + asset.bytes, current };
    }

    private turn(): Promise<void> {
        return new Promise((go) => {
            const start = (): void => {
                this.running += 1;
                go();
            };
            if (this.running < AT_ONCE) {
                start();
            } else {
                this.queue.push(start);
            }
        });
    }

    private async fetch(asset: Asset): Promise<Uint8Array<ArrayBuffer>> {
        if (asset.url !== undefined) {
            const answer = await fetch(asset.url);
            if (!answer.ok) {
                throw new NotThere(asset.path);
            }
            return new Uint8Array(await answer.arrayBuffer());
        }
        const partial = new Partial(asset.bytes);
        const { signal: never } = new AbortController();
        for (const pause of [...BACKOFF_MS, 0]) {
            try {
                const data = await fetchBlob(assetUrl(asset), partial, never, () => undefined);
                if (data.length === asset.bytes) {
                    return data;
                }
            } catch (error) {
                if (error instanceof NotThere || pause === 0) {
                    throw error;
                }
            }
            await wait(pause);
        }
        throw new Error('it ends too early');
    }
}
