// Bytes by HTTP: one blob, continued where it was cut, and many runes in one answer. What arrives is
// only bounded here; the core checks it.

export const BUNDLE_RUNES_MAX = 256; // as in core/base/limits.h
const ENTRY_BYTES = 5;
const HASH_BYTES = 32;

// The server has answered, and it will be the same next time.
export class NotThere extends Error {}

// It answered well, and then the body could not be read: the connection was cut, or a compressed answer
// was damaged on its way. Browsers do not tell which.
export class Unreadable extends Error {}

// What has arrived of one blob; a second attempt goes on from there.
export class Partial {
    readonly data: Uint8Array<ArrayBuffer>;
    have = 0;

    constructor(bytes: number) {
        this.data = new Uint8Array(bytes);
    }
}

async function checked(answer: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    if (answer.ok && answer.body !== null) {
        return answer.body.getReader();
    }
    await answer.body?.cancel();
    // 5xx and 429 may pass.
    throw answer.status >= 500 || answer.status === 429
        ? new Error(`the server answered ${answer.status}`)
        : new NotThere(`the server answered ${answer.status}`);
}

// Is this the part that was asked for? A server may also send all of it again.
function continues(answer: Response, from: number): boolean {
    return answer.status === 206 &&
        answer.headers.get('Content-Range')?.startsWith(`bytes ${from}-`) === true;
}

export async function fetchBlob(
    url: string, partial: Partial, signal: AbortSignal, onBytes: (count: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
    const { data, have } = partial;
    const headers: Record<string, string> = have > 0 ? { Range: `bytes=${have}-` } : {};
    const answer = await fetch(url, { headers, signal });
    if (have > 0 && !continues(answer, have)) {
        partial.have = 0;
    }
    const reader = await checked(answer);
    for (;;) {
        const { done, value } = await reader.read().catch(() => {
            throw new Unreadable('the answer cannot be read');
        });
        if (done) {
            break;
        }
        if (partial.have + value.length > data.length) {
            partial.have = 0;
            await reader.cancel();
            throw new NotThere('it is longer than it should be');
        }
        data.set(value, partial.have);
        partial.have += value.length;
        onBytes(value.length);
    }
    return data.subarray(0, partial.have);
}

// One rune, packed or not; null: the server does not have it.
export type Entry = { isPacked: boolean; bytes: Uint8Array<ArrayBuffer> } | null;

// Reads entries from pieces of an answer (server/serve/http/http_bundle.h). In a file with all runes
// of a place (rune_set.h) each entry has its hash before it.
export class BundleReader {
    private rest = new Uint8Array(0);
    private readonly bytesMax: number;
    private readonly hashBytes: number;

    constructor(bytesMax: number, hasHashes: boolean) { // of one entry
        this.bytesMax = bytesMax;
        this.hashBytes = hasHashes ? HASH_BYTES : 0;
    }

    // The entries that are whole now, and their hashes, if they have them.
    push(piece: Uint8Array): [string, Entry][] {
        const joined = new Uint8Array(this.rest.length + piece.length);
        joined.set(this.rest);
        joined.set(piece, this.rest.length);
        const view = new DataView(joined.buffer);
        const entries: [string, Entry][] = [];
        let at = 0;
        while (at + this.hashBytes + ENTRY_BYTES <= joined.length) {
            const head = at + this.hashBytes;
            const form = view.getUint8(head);
            const bytes = view.getUint32(head + 1, true);
            if (form > 2 || bytes > this.bytesMax) {
                throw new NotThere('this is no bundle');
            }
            const from = head + ENTRY_BYTES;
            if (from + bytes > joined.length) {
                break;
            }
            entries.push([hex(joined.subarray(at, head)), form === 0 ? null
                : { isPacked: form === 2, bytes: joined.slice(from, from + bytes) }]);
            at = from + bytes;
        }
        this.rest = joined.slice(at);
        return entries;
    }
}

function hex(bytes: Uint8Array): string {
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Calls `take` for each entry as it arrives: of the hashes, in their order, or (null) with the hashes
// that are in it. What has arrived when it fails is not to be asked for again.
export async function fetchBundle(
    request: Request, hashes: readonly string[] | null, bytesMax: number,
    onBytes: (count: number) => void, take: (hash: string, entry: Entry) => void,
): Promise<void> {
    const reader = await checked(await fetch(request));
    const entries = new BundleReader(bytesMax, hashes === null);
    let at = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) {
            break;
        }
        onBytes(value.length);
        for (const [hash, entry] of entries.push(value)) {
            take(hashes?.[at] ?? hash, entry);
            at += 1;
        }
    }
    if (at < (hashes?.length ?? 1)) {
        throw new Error('the answer ended early');
    }
}
