// Brings what a client wants (its scene, its runes) from wherever it is: the cache of earlier visits,
// the static files of `cdn_base`, the host, and if nothing else helps the socket. Nothing that arrives
// is believed: the core compares it with the hash that it asked for.
//
//   wanted ─▶ cache ─▶ cdn_base ─▶ host, many runes in one answer ─▶ host, each alone ─▶ socket
//                         └──────── cut or busy: waits, goes on where it was cut ────────┘
import { ClientState, type CoreClient, type Want } from './bridge.ts';
import type { BlobCache, Kept } from './cache.ts';
import {
    BUNDLE_RUNES_MAX, type Entry, NotThere, Partial, fetchBlob, fetchBundle,
} from './fetch.ts';

const AT_ONCE_JOINING = 4; // requests at the same time, before the world is shown
const AT_ONCE_PLAYING = 2; // afterwards: downloads must not delay what happens in the world
const BUNDLE_BYTES = 1024 * 1024; // of runes, unpacked, in one request
const ALONE_MAX = 16; // so few runes are fetched one by one from cdn_base
const BACKOFF_MS = [200, 500, 1000, 2000, 4000];
const READ_MAX = 64; // entries read from the cache at once
const RUNE_BYTES_MAX = 512 * 1024; // as in core/base/limits.h

// Where things are; it is known when there is a ticket.
export interface Sources {
    origin: string; // of the host
    token: string; // sign-in without a cookie
    cdnBase: string; // '': none
    packing: number; // how runes may come; 0: only as they are
}

// What the player is shown. Bytes are those of scene and runes themselves, however they came.
export interface Progress {
    sceneBytes: number;
    sceneHave: number;
    scripts: number;
    scriptsHave: number;
    runeBytes: number;
    runeHave: number;
    fromCache: number; // scripts and scenes that were here already
    requests: number;
    wireBytes: number; // that came by HTTP
    cuts: number; // downloads that were interrupted and continued
    current: string; // what is being fetched
    refused: string[]; // names of what came damaged
    isWaiting: boolean; // nothing arrives at the moment; it is tried again
}

export const emptyProgress = (): Progress => ({
    sceneBytes: 0, sceneHave: 0, scripts: 0, scriptsHave: 0, runeBytes: 0, runeHave: 0, fromCache: 0,
    requests: 0, wireBytes: 0, cuts: 0, current: '', refused: [], isWaiting: false,
});

// The name of a set of runes: the SHA-256 of their hashes, as text, sorted, a line each.
async function nameOfSet(hashes: string[]): Promise<string> {
    const { sha256 } = await import('@noble/hashes/sha2.js');
    const bytes = sha256(new TextEncoder().encode(hashes.map((hash) => `${hash}\n`).join('')));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export class Downloader {
    readonly progress: Progress = emptyProgress();
    private readonly client: CoreClient;
    private readonly cache: BlobCache;
    private readonly changed: () => void; // something was given to the client
    private readonly wants = new Map<string, Want>(); // by hash, until it is here
    private readonly ending = new AbortController();
    private sources: Sources = { origin: '', token: '', cdnBase: '', packing: 0 };
    private queue: (() => Promise<void>)[] = [];
    private running = 0;
    private isPlaying = false;
    private wakers: (() => void)[] = [];
    private held: { want: Want; kept: Kept; isFresh: boolean }[] = [];

    constructor(client: CoreClient, cache: BlobCache, changed: () => void) {
        this.client = client;
        this.cache = cache;
        this.changed = changed;
    }

    setSources(sources: Sources): void {
        this.sources = sources;
        this.wake();
    }

    // From now on there is a game that downloads must not disturb.
    setPlaying(isPlaying: boolean): void {
        this.isPlaying = isPlaying;
    }

    // The network is back: nobody waits any longer.
    wake(): void {
        this.wakers.splice(0).forEach((go) => go());
    }

    // Nothing of it may touch the client again.
    stop(): void {
        this.ending.abort();
        this.queue = [];
        this.held = [];
        this.wake();
    }

    isKnown(hash: string): boolean {
        return this.wants.has(hash);
    }

    // What the client lacks. Those that are being fetched already may be among them.
    want(list: Want[]): void {
        this.giveHeld();
        const added = list.filter(({ hash, kind }) => kind !== 'manifest' && !this.wants.has(hash));
        // The host has no manifests by hash: whoever is in the world gets them from it.
        for (const { hash } of list.filter(({ kind }) => kind === 'manifest')) {
            this.client.fetchOneOverWire(hash);
        }
        for (const want of added) {
            this.wants.set(want.hash, want);
            this.count(want);
        }
        if (added.length > 0) {
            void this.begin(added);
        }
    }

    private count(want: Want): void {
        if (want.scene) {
            this.progress.sceneBytes = want.bytes;
            this.progress.sceneHave = 0;
        } else {
            this.progress.scripts += 1;
            this.progress.runeBytes += want.bytes;
        }
    }

    private get isOver(): boolean {
        return this.ending.signal.aborted;
    }

    // --- the cache ---

    private async begin(list: Want[]): Promise<void> {
        const missing: Want[] = [];
        for (let at = 0; at < list.length && !this.isOver; at += READ_MAX) {
            const part = list.slice(at, at + READ_MAX);
            const found = await this.cache.read(part.map(({ hash }) => hash));
            if (this.isOver) {
                return;
            }
            for (const want of part) {
                const kept = found.get(want.hash);
                if (kept === undefined || !this.giveKept(want, kept)) {
                    missing.push(want);
                }
            }
            this.changed();
        }
        if (!this.isOver) {
            this.fetch(missing);
        }
    }

    private giveKept(want: Want, kept: Kept): boolean {
        if (this.give(want, kept, false)) {
            this.progress.fromCache += 1;
            return true;
        }
        if (kept.packing === 0 || kept.packing === this.sources.packing) {
            void this.cache.damaged(want.hash); // else it is only of another version
        }
        return false;
    }

    // A client whose world has got another manifest meanwhile may not need it any more.
    private isWanted(hash: string): boolean {
        return this.client.wants().some((want) => want.hash === hash);
    }

    // Is it what the client wants? If the client does not need it any more, it is done with too.
    // While the connection is cut the client takes nothing: it gets it when it is back.
    private give(want: Want, kept: Kept, isFresh: boolean): boolean {
        if (this.isOver || !this.wants.has(want.hash)) {
            return true;
        }
        const state = this.client.state();
        if (state !== ClientState.fetching && state !== ClientState.playing) {
            this.held.push({ want, kept, isFresh });
            return true;
        }
        const status = kept.packing === 0 ? this.client.give(kept.bytes)
            : kept.packing === this.sources.packing ? this.client.givePacked(want.hash, kept.bytes)
                : -1;
        if (status !== 0 && this.isWanted(want.hash)) {
            return false;
        }
        this.wants.delete(want.hash);
        if (status === 0) {
            this.taken(want);
            if (isFresh) {
                this.cache.keep(want.hash, kept);
            }
        }
        return true;
    }

    private taken(want: Want): void {
        if (want.scene) {
            this.progress.sceneHave = want.bytes;
        } else {
            this.progress.scriptsHave += 1;
            this.progress.runeHave += want.bytes;
        }
    }

    private received(want: Want, kept: Kept): boolean {
        const isGood = this.give(want, kept, true);
        if (!isGood) {
            this.progress.refused.push(want.scene ? 'the scene' : want.path);
        }
        return isGood;
    }

    // What came while the connection was cut.
    private giveHeld(): void {
        for (const { want, kept, isFresh } of this.held.splice(0)) {
            if (isFresh ? !this.received(want, kept) : !this.giveKept(want, kept)) {
                this.add(() => this.fetchAlone(want, !want.scene));
            }
        }
    }

    // --- jobs, a few at once ---

    private fetch(missing: Want[]): void {
        const runes = missing.filter(({ scene }) => !scene);
        for (const want of missing.filter(({ scene }) => scene)) {
            this.add(() => this.fetchAlone(want, false));
        }
        const isAll = runes.length === this.client.stats().scripts;
        if (this.sources.cdnBase !== '' && this.sources.packing !== 0 && runes.length > ALONE_MAX &&
            isAll) {
            this.add(() => this.fetchSet(runes));
        } else if (this.sources.cdnBase !== '' && runes.length <= ALONE_MAX) {
            runes.forEach((want) => this.add(() => this.fetchAlone(want, true)));
        } else {
            this.addBundles(runes);
        }
    }

    private addBundles(runes: Want[]): void {
        let group: Want[] = [];
        let bytes = 0;
        const close = (): void => {
            const list = group;
            if (list.length > 0) {
                this.add(() => this.fetchGroup(list));
            }
            group = [];
            bytes = 0;
        };
        for (const want of runes) {
            if (group.length === BUNDLE_RUNES_MAX || bytes + want.bytes > BUNDLE_BYTES) {
                close();
            }
            group.push(want);
            bytes += want.bytes;
        }
        close();
    }

    private add(job: () => Promise<void>): void {
        this.queue.push(job);
        this.run();
    }

    private run(): void {
        const most = this.isPlaying ? AT_ONCE_PLAYING : AT_ONCE_JOINING;
        while (this.running < most && !this.isOver) {
            const job = this.queue.shift();
            if (job === undefined) {
                return;
            }
            this.running += 1;
            void job().catch(() => undefined).then(() => {
                this.running -= 1;
                if (!this.isOver) {
                    this.changed();
                    this.run();
                }
            });
        }
    }

    // Tries until it is done, until the server says that it is not there (false), or until it has
    // failed too often in a row without anything arriving (false).
    private async persist(what: string, attempt: () => Promise<void>): Promise<boolean> {
        for (let failures = 0; !this.isOver;) {
            const before = this.progress.wireBytes;
            try {
                this.progress.current = what;
                this.progress.requests += 1;
                await attempt();
                this.progress.isWaiting = false;
                return true;
            } catch (error) {
                if (error instanceof NotThere || this.isOver) {
                    return false;
                }
                failures = this.progress.wireBytes > before ? 1 : failures + 1;
                this.progress.cuts += this.progress.wireBytes > before ? 1 : 0;
                const pause = BACKOFF_MS[failures - 1];
                if (pause === undefined) {
                    return false;
                }
                this.progress.isWaiting = true;
                this.changed();
                await this.rest(pause * (0.75 + Math.random() / 2));
            }
        }
        return false;
    }

    private rest(ms: number): Promise<void> {
        return new Promise((done) => {
            const timer = setTimeout(done, ms);
            this.wakers.push(() => {
                clearTimeout(timer);
                done();
            });
        });
    }

    // --- many runes ---

    private readonly arrived = (count: number): void => {
        this.progress.wireBytes += count;
        this.progress.isWaiting = false;
    };

    private take(byHash: Map<string, Want>, unusable: Want[], hash: string, entry: Entry): void {
        const want = byHash.get(hash);
        byHash.delete(hash);
        if (want === undefined) {
            return;
        }
        const packing = entry?.isPacked === true ? this.sources.packing : 0;
        if (entry === null || !this.received(want, { packing, bytes: entry.bytes })) {
            unusable.push(want);
        }
    }

    // What has arrived before a cut is not asked for again.
    private async fetchGroup(group: Want[]): Promise<void> {
        const left = new Map(group.map((want) => [want.hash, want]));
        const unusable: Want[] = [];
        await this.persist(nameOf(group), async () => {
            const hashes = [...left.keys()];
            const headers: Record<string, string> = {
                'Content-Type': 'application/json', 'X-Sandlot': '1',
            };
            if (this.sources.token !== '') {
                headers.Authorization = `Bearer ${this.sources.token}`;
            }
            const request = new Request(`${this.sources.origin}/packed/${this.sources.packing}`, {
                method: 'POST', headers, body: JSON.stringify({ runes: hashes }),
                signal: this.ending.signal,
            });
            await fetchBundle(request, hashes, RUNE_BYTES_MAX, this.arrived, (hash, entry) => {
                this.take(left, unusable, hash, entry);
                this.changed();
            });
        });
        for (const want of [...unusable, ...left.values()]) {
            this.add(() => this.fetchAlone(want, true));
        }
    }

    // All runes of a place, one static file, whose name follows from their hashes.
    private async fetchSet(runes: Want[]): Promise<void> {
        const left = new Map(runes.map((want) => [want.hash, want]));
        const hashes = [...left.keys()].sort();
        const name = await nameOfSet(hashes);
        const unusable: Want[] = [];
        const url = `${this.sources.cdnBase}/packed/${this.sources.packing}/${name}`;
        await this.persist(nameOf(runes), async () => {
            if (left.size === 0) {
                return;
            }
            await fetchBundle(new Request(url, { signal: this.ending.signal }), hashes,
                RUNE_BYTES_MAX, this.arrived, (hash, entry) => {
                    this.take(left, unusable, hash, entry);
                    this.changed();
                });
        });
        this.addBundles([...unusable, ...left.values()]);
    }

    // --- one thing ---

    private async fetchAlone(want: Want, isRune: boolean): Promise<void> {
        if (!this.wants.has(want.hash)) {
            return;
        }
        const { origin, cdnBase, packing } = this.sources;
        for (const base of cdnBase !== '' ? [cdnBase, origin] : [origin]) {
            if (isRune && packing !== 0 &&
                await this.fetched(want, `${base}/packed/${packing}/${want.hash}`, packing)) {
                return;
            }
            if (await this.fetched(want, `${base}/blob/${want.hash}`, 0)) {
                return;
            }
        }
        if (!this.isOver && !this.client.fetchOneOverWire(want.hash) && want.scene) {
            this.client.fetchOverWire(); // it stays among the wants, so it is not tried again here
        }
    }

    // Is there nothing left to do for it?
    private async fetched(want: Want, url: string, packing: number): Promise<boolean> {
        const partial = new Partial(want.bytes);
        let isDone = false;
        await this.persist(want.scene ? 'the scene' : want.path, async () => {
            const bytes = await fetchBlob(url, partial, this.ending.signal, (count) => {
                this.arrived(count);
                if (want.scene) {
                    this.progress.sceneHave = partial.have;
                    this.changed();
                }
            });
            if (packing === 0 && bytes.length !== want.bytes) {
                throw new Error('the answer ended early');
            }
            isDone = this.received(want, { packing, bytes });
        });
        return isDone || this.isOver;
    }
}

function nameOf(group: Want[]): string {
    return group.length === 1 ? group[0]?.path ?? '' : `${group.length} scripts`;
}
