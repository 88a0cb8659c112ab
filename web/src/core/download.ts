// Brings what a client wants (its scene, its runes) from wherever it is: the cache of earlier visits,
// the static files of `cdn_base`, the host, and if nothing else helps the socket. Nothing that arrives
// is believed: the core compares it with the hash that it asked for.
//
//   wanted ─▶ cache ─▶ cdn_base ─▶ host, all or many runes in one answer ─▶ host, each alone ─▶ socket
//                         └──────── cut or busy: waits, goes on where it was cut ────────┘
import { ClientState, type CoreClient, type Want } from './bridge.ts';
import type { BlobCache, Kept } from './cache.ts';
import {
    BUNDLE_RUNES_MAX, type Entry, NotThere, Partial, Unreadable, fetchBlob, fetchBundle,
} from './fetch.ts';

const AT_ONCE_JOINING = 4; // requests at the same time, before the world is shown
const AT_ONCE_PLAYING = 2; // afterwards: downloads must not delay what happens in the world
const BUNDLE_BYTES = 1024 * 1024; // of runes, unpacked, in one request
const ALONE_MAX = 16; // so few runes are fetched one by one from cdn_base
const BACKOFF_MS = [200, 500, 1000, 2000, 4000];
const HOST_TRIES = 6; // without a byte, while there is a connection to the world
const CDN_TRIES = 2;
const UNREADABLE_TRIES = 2; // of answers without a byte that could be read, as with damaged ones
const CUTS_MAX = 50; // of one download; a server may send the same beginning for ever
const READ_MAX = 64; // entries read from the cache at once
const RUNE_BYTES_MAX = 512 * 1024; // as in core/base/limits.h

// Where things are; it is known when there is a ticket.
export interface Sources {
    origin: string; // of the host
    token: string; // sign-in without a cookie
    cdnBase: string; // '': none
    packing: number; // how runes may come; 0: only as they are
    runeSet: string; // the name of all of them together; '': none
    placeId: string; // of the place that is played
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
    refused: string[]; // names of what came damaged, from wherever
    scriptsRefused: number; // for good: they do not run
    isWaiting: boolean; // nothing arrives at the moment; it is tried again
}

export const emptyProgress = (): Progress => ({
    sceneBytes: 0, sceneHave: 0, scripts: 0, scriptsHave: 0, runeBytes: 0, runeHave: 0, fromCache: 0,
    requests: 0, wireBytes: 0, cuts: 0, current: '', refused: [], scriptsRefused: 0,
    isWaiting: false,
});

export class Downloader {
    readonly progress: Progress = emptyProgress();
    private readonly client: CoreClient;
    private readonly cache: BlobCache;
    private readonly changed: () => void; // something was given to the client
    private readonly wants = new Map<string, Want>(); // by hash, until it is here
    private readonly ending = new AbortController();
    private sources: Sources = {
        origin: '', token: '', cdnBase: '', packing: 0, runeSet: '', placeId: '',
    };
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
        const added = list.filter(({ hash }) => !this.wants.has(hash));
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
        } else if (want.kind === 'rune') {
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
    private give(want: Want, kept: Kept, isFresh: boolean, isHost = false): boolean {
        if (this.isOver || !this.wants.has(want.hash)) {
            return true;
        }
        if (!this.isConnected()) {
            this.held.push({ want, kept, isFresh });
            return true;
        }
        // What the host itself has wrong counts: the second time the script is refused for good.
        const status = kept.packing === 0
            ? isHost ? this.client.giveFor(want.hash, kept.bytes) : this.client.give(kept.bytes)
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
        } else if (want.kind === 'rune') {
            this.progress.scriptsHave += 1;
            this.progress.runeHave += want.bytes;
        }
    }

    private received(want: Want, kept: Kept, isHost = false): boolean {
        const isGood = this.give(want, kept, true, isHost);
        if (!isGood) {
            this.progress.refused.push(nameOf([want]));
        }
        return isGood;
    }

    // What came while the connection was cut. Called while there is one.
    giveHeld(): void {
        for (const { want, kept, isFresh } of this.held.splice(0)) {
            if (isFresh ? !this.received(want, kept) : !this.giveKept(want, kept)) {
                this.add(() => this.fetchAlone(want));
            }
        }
    }

    // --- jobs, a few at once ---

    private fetch(missing: Want[]): void {
        const runes = missing.filter(({ kind }) => kind === 'rune');
        for (const want of missing.filter(({ kind }) => kind !== 'rune')) {
            this.add(() => this.fetchAlone(want));
        }
        const { cdnBase, packing, runeSet } = this.sources;
        const isMost = runes.length * 2 > this.client.stats().scripts;
        if (packing !== 0 && runeSet !== '' && runes.length > ALONE_MAX && isMost) {
            this.add(() => this.fetchSet(runes));
        } else if (cdnBase !== '' && runes.length <= ALONE_MAX) {
            runes.forEach((want) => this.add(() => this.fetchAlone(want)));
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

    // Tries until it is done, until the server says that it is not there, or until it has failed too
    // often in a row without anything arriving. While the world cannot be reached either, it waits.
    private async persist(
        what: string, most: number, attempt: (arrived: (count: number) => void) => Promise<void>,
    ): Promise<'done' | 'not there' | 'failed'> {
        let failures = 0;
        let unreadable = 0;
        for (let cuts = 0; cuts < CUTS_MAX && !this.isOver;) {
            let hasMoved = false;
            try {
                this.progress.current = what;
                this.progress.requests += 1;
                await attempt((count) => {
                    hasMoved ||= count > 0;
                    this.progress.wireBytes += count;
                    this.progress.isWaiting = false;
                });
                this.progress.isWaiting = false;
                return 'done';
            } catch (error) {
                if (error instanceof NotThere) {
                    return 'not there';
                }
                cuts += hasMoved ? 1 : 0;
                this.progress.cuts += hasMoved ? 1 : 0;
                failures = hasMoved ? 0 : failures + (this.isConnected() ? 1 : 0);
                unreadable = hasMoved || !(error instanceof Unreadable) ? 0
                    : unreadable + (this.isConnected() ? 1 : 0);
                if (failures >= most || unreadable >= UNREADABLE_TRIES || this.isOver) {
                    break;
                }
                this.progress.isWaiting = true;
                this.changed();
                const pause = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 0;
                await this.rest(pause * (0.75 + Math.random() / 2));
            }
        }
        return 'failed';
    }

    private isConnected(): boolean {
        const state = this.client.state();
        return state === ClientState.fetching || state === ClientState.playing;
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
        const end = await this.persist(nameOf(group), HOST_TRIES, async (arrived) => {
            const hashes = [...left.keys()];
            const headers: Record<string, string> = {
                'Content-Type': 'application/json', 'X-Sandlot': '1',
            };
            if (this.sources.token !== '') {
                headers.Authorization = `Bearer ${this.sources.token}`;
            }
            const request = new Request(`${this.sources.origin}/packed/${this.sources.packing}`, {
                method: 'POST', headers, body: JSON.stringify({ runes: hashes, place_id: this.sources.placeId }),
                signal: this.ending.signal,
            });
            await fetchBundle(request, hashes, RUNE_BYTES_MAX, arrived, (hash, entry) => {
                this.take(left, unusable, hash, entry);
                this.changed();
            });
        });
        if (end === 'failed') {
            [...unusable, ...left.values()].forEach((want) => this.overWire(want));
            return;
        }
        for (const want of [...unusable, ...left.values()]) {
            this.add(() => this.fetchAlone(want));
        }
    }

    // What is asked for over the socket stays among the wants, so that it is not tried again here.
    private overWire(want: Want): void {
        if (!this.isOver && !this.client.fetchOneOverWire(want.hash) && want.scene) {
            this.client.fetchOverWire();
        }
    }

    // All runes of a place, in one answer that can be kept. What is not wanted of them is skipped. It
    // cannot go on where it was cut, so what is missing then is asked for by name.
    private async fetchSet(runes: Want[]): Promise<void> {
        const left = new Map(runes.map((want) => [want.hash, want]));
        const unusable: Want[] = [];
        const { origin, cdnBase, packing, runeSet } = this.sources;
        for (const base of cdnBase !== '' ? [cdnBase, origin] : [origin]) {
            const url = `${base}/packed/${packing}/${runeSet}`;
            await this.persist(nameOf(runes), CDN_TRIES, async (arrived) => {
                await fetchBundle(new Request(url, { signal: this.ending.signal }), null,
                    RUNE_BYTES_MAX, arrived, (hash, entry) => {
                        this.take(left, unusable, hash, entry);
                        this.changed();
                    }).catch((error: unknown) => {
                    if (left.size === runes.length) {
                        throw error;
                    }
                    this.progress.cuts += 1;
                });
            });
            if (left.size < runes.length || this.isOver) {
                break;
            }
        }
        this.addBundles([...unusable, ...left.values()]);
    }

    // --- one thing ---

    private async fetchAlone(want: Want): Promise<void> {
        if (!this.wants.has(want.hash)) {
            return;
        }
        const { origin, cdnBase, packing } = this.sources;
        for (const base of cdnBase !== '' && !want.fromHost ? [cdnBase, origin] : [origin]) {
            const tries = base === cdnBase ? CDN_TRIES : HOST_TRIES;
            if (want.kind === 'rune' && packing !== 0 &&
                await this.fetched(want, `${base}/packed/${packing}/${want.hash}`, packing, tries)) {
                return;
            }
            if (await this.fetched(want, `${base}/blob/${want.hash}`, 0, tries)) {
                return;
            }
        }
        this.overWire(want);
    }

    // Is there nothing left to do for it?
    private async fetched(
        want: Want, url: string, packing: number, tries: number,
    ): Promise<boolean> {
        const partial = new Partial(want.bytes);
        let isDone = false;
        await this.persist(nameOf([want]), tries, async (arrived) => {
            const bytes = await fetchBlob(url, partial, this.ending.signal, (count) => {
                arrived(count);
                if (want.scene) {
                    this.progress.sceneHave = partial.have;
                    this.changed();
                }
            });
            if (packing === 0 && bytes.length !== want.bytes) {
                throw new Error('the answer ended early');
            }
            const isHost = url.startsWith(`${this.sources.origin}/`);
            isDone = this.received(want, { packing, bytes }, isHost);
        });
        return isDone || this.isOver;
    }
}

function nameOf(group: Want[]): string {
    const [want] = group;
    if (group.length !== 1 || want === undefined) {
        return `${group.length} scripts`;
    }
    return { scene: 'the scene', manifest: 'the list of scripts', rune: want.path }[want.kind];
}
