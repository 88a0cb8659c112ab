// What was downloaded before: runes and scenes by their hashes, in IndexedDB, so that the next visit
// fetches nothing. It is only ever a shortcut: whatever comes out of it is checked by the core
// against the hash that the signed manifest names, and if storage is full, forbidden (a private
// window) or broken, everything is fetched as if there were no cache.
//
// Two object stores: `data` has the bytes by hash, `rows` has {hash, bytes, used} for choosing what
// to drop. Both are written in one transaction, so two tabs never see half of an entry.

export const CACHE_BYTES_MAX = 64 * 1024 * 1024; // as RUNE_STORE_BYTES_MAX in core/base/limits.h
export const CACHE_ENTRIES_MAX = 16384;
const ENTRY_BYTES_MAX = CACHE_BYTES_MAX / 4;
const NAME = 'sandlot';
const VERSION = 1;
const USED_STEP_MS = 6 * 3600_000; // an entry's time of use is this exact: a warm visit writes little
const OPEN_MS = 2000; // then the visit goes on without a cache

// As it came: the number of its packing, or 0 for the bytes themselves.
export interface Kept {
    packing: number;
    bytes: Uint8Array<ArrayBuffer>;
}

interface Row {
    hash: string;
    bytes: number;
    used: number; // Unix milliseconds
}

export interface CacheStats {
    isOpen: boolean;
    entries: number;
    bytes: number;
    hits: number;
    misses: number;
    damaged: number; // entries whose bytes were not what their hash says; they were removed
    dropped: number; // the least recently used, for want of room
    failures: number; // writes that storage refused
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
    return new Promise((done, failed) => {
        request.addEventListener('success', () => done(request.result));
        request.addEventListener('error', () => failed(request.error ?? new Error('storage')));
    });
}

function finished(transaction: IDBTransaction): Promise<void> {
    return new Promise((done, failed) => {
        transaction.addEventListener('complete', () => done());
        transaction.addEventListener('abort', () =>
            failed(transaction.error ?? new Error('storage')));
    });
}

function open(): Promise<IDBDatabase> {
    return new Promise((done, failed) => {
        const request = indexedDB.open(NAME, VERSION);
        const late = setTimeout(() => failed(new Error('storage does not answer')), OPEN_MS);
        request.addEventListener('upgradeneeded', () => {
            request.result.createObjectStore('data');
            request.result.createObjectStore('rows', { keyPath: 'hash' });
        });
        request.addEventListener('success', () => {
            clearTimeout(late);
            // A page of a later version in another tab: it must not wait for this one.
            request.result.addEventListener('versionchange', () => request.result.close());
            done(request.result);
        });
        request.addEventListener('error', () => {
            clearTimeout(late);
            failed(request.error ?? new Error('storage'));
        });
    });
}

// What to drop so that the rest fits, the least recently used first.
export function chooseDropped(rows: Row[], bytesMax: number, entriesMax: number): Row[] {
    let bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    let count = rows.length;
    const dropped: Row[] = [];
    for (const row of [...rows].sort((a, b) => a.used - b.used)) {
        if (bytes <= bytesMax && count <= entriesMax) {
            break;
        }
        bytes -= row.bytes;
        count -= 1;
        dropped.push(row);
    }
    return dropped;
}

export class BlobCache {
    readonly stats: CacheStats = {
        isOpen: false, entries: 0, bytes: 0, hits: 0, misses: 0, damaged: 0, dropped: 0, failures: 0,
    };
    private database: Promise<IDBDatabase | null> | null = null;
    private pending = new Map<string, Kept>(); // to be written
    private writing = false;

    // Null: there is none here.
    private ready(): Promise<IDBDatabase | null> {
        this.database ??= Promise.resolve().then(open).then((database) => {
            this.stats.isOpen = true;
            return database;
        }).catch(() => null);
        return this.database;
    }

    // Those of the hashes that are here.
    async read(hashes: string[]): Promise<Map<string, Kept>> {
        const found = new Map<string, Kept>();
        const database = await this.ready();
        if (database !== null && hashes.length > 0) {
            await this.readFrom(database, hashes, found).catch(() => undefined);
        }
        this.stats.hits += found.size;
        this.stats.misses += hashes.length - found.size;
        return found;
    }

    private async readFrom(
        database: IDBDatabase, hashes: string[], found: Map<string, Kept>,
    ): Promise<void> {
        const transaction = database.transaction(['data', 'rows'], 'readonly');
        const data = transaction.objectStore('data');
        const rows = transaction.objectStore('rows');
        const stale: Row[] = [];
        const now = Date.now();
        await Promise.all(hashes.map(async (hash) => {
            const [kept, row] = await Promise.all([
                settled(data.get(hash)), settled(rows.get(hash)),
            ]) as [Kept | undefined, Row | undefined];
            if (kept?.bytes instanceof Uint8Array && typeof kept.packing === 'number') {
                found.set(hash, kept);
            }
            if (row !== undefined && now - row.used > USED_STEP_MS) {
                stale.push({ ...row, used: now });
            }
        }));
        if (stale.length > 0) {
            const update = database.transaction('rows', 'readwrite');
            stale.forEach((row) => update.objectStore('rows').put(row));
            await finished(update);
        }
    }

    // Its bytes are not what the hash says.
    async damaged(hash: string): Promise<void> {
        this.stats.damaged += 1;
        this.stats.hits -= 1;
        const database = await this.ready();
        if (database !== null) {
            await this.remove(database, [hash]).catch(() => undefined);
        }
    }

    // Is written when there is time. The bytes are those that the core has just accepted.
    keep(hash: string, kept: Kept): void {
        if (kept.bytes.length <= ENTRY_BYTES_MAX) {
            this.pending.set(hash, kept);
            void this.write();
        }
    }

    private async write(): Promise<void> {
        if (this.writing) {
            return;
        }
        this.writing = true;
        const database = await this.ready();
        while (database !== null && this.pending.size > 0) {
            const batch = [...this.pending];
            this.pending.clear();
            await this.writeTo(database, batch).catch(() => { this.stats.failures += 1; });
        }
        this.pending.clear();
        this.writing = false;
    }

    private async writeTo(database: IDBDatabase, batch: [string, Kept][]): Promise<void> {
        const transaction = database.transaction(['data', 'rows'], 'readwrite');
        const done = finished(transaction);
        for (const [hash, kept] of batch) {
            transaction.objectStore('data').put(kept, hash);
            transaction.objectStore('rows').put(
                { hash, bytes: kept.bytes.length, used: Date.now() });
        }
        await done;
        const rows = await settled(
            database.transaction('rows', 'readonly').objectStore('rows').getAll()) as Row[];
        const dropped = chooseDropped(rows, CACHE_BYTES_MAX, CACHE_ENTRIES_MAX);
        this.stats.entries = rows.length - dropped.length;
        this.stats.bytes = rows.reduce((sum, row) => sum + row.bytes, 0) -
            dropped.reduce((sum, row) => sum + row.bytes, 0);
        if (dropped.length > 0) {
            this.stats.dropped += dropped.length;
            await this.remove(database, dropped.map(({ hash }) => hash));
        }
    }

    private async remove(database: IDBDatabase, hashes: string[]): Promise<void> {
        const transaction = database.transaction(['data', 'rows'], 'readwrite');
        const done = finished(transaction);
        for (const hash of hashes) {
            transaction.objectStore('data').delete(hash);
            transaction.objectStore('rows').delete(hash);
        }
        await done;
    }
}
