// What was copied last in this browser, in any tab and place: entities as bytes (core/edit/clip.h), in
// IndexedDB, because they may be larger than what other storage takes.

const NAME = 'sandlot-clip';
const KEY = 'last';
const OPEN_MS = 2000;

export interface Copied {
    bytes: Uint8Array;
    count: number; // of things that were selected
    at: number; // Date.now()
}

function open(): Promise<IDBDatabase> {
    return new Promise((done, failed) => {
        const request = indexedDB.open(NAME, 1);
        const late = setTimeout(() => failed(new Error('storage does not answer')), OPEN_MS);
        request.addEventListener('upgradeneeded', () => request.result.createObjectStore('clip'));
        request.addEventListener('success', () => {
            clearTimeout(late);
            done(request.result);
        });
        request.addEventListener('error', () => {
            clearTimeout(late);
            failed(request.error ?? new Error('storage'));
        });
    });
}

async function withStore<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const database = await open();
    try {
        return await new Promise((done, failed) => {
            const transaction = database.transaction('clip', mode);
            const request = use(transaction.objectStore('clip'));
            transaction.addEventListener('complete', () => done(request.result));
            transaction.addEventListener('abort', () => failed(transaction.error ?? new Error('storage')));
        });
    } finally {
        database.close();
    }
}

// Without storage (a private window) copying works within the page alone.
export async function keepCopied(copied: Copied): Promise<void> {
    await withStore('readwrite', (store) => store.put(copied, KEY)).catch(() => undefined);
}

export async function lastCopied(): Promise<Copied | null> {
    const found = await withStore<unknown>('readonly', (store) => store.get(KEY) as IDBRequest<unknown>)
        .catch(() => null) as Partial<Copied> | null | undefined;
    return found?.bytes instanceof Uint8Array && typeof found.count === 'number' && typeof found.at === 'number'
        ? { bytes: found.bytes, count: found.count, at: found.at } : null;
}
