// The contents of a draft's files. The document knows each by its hash; contents are blobs on the server.
// Writing puts the blob first and then says in the document that the file is that one now.
import { Failure } from '../site/api.ts';

import type { StudioDocument } from './document.ts';
import { isAway, refusal } from './failure.ts';

const KEPT_BYTES_MAX = 32 << 20;

// Somebody else saved the file since: both contents are blobs, and a person decides.
export class Conflict extends Error {
    readonly path: string;
    readonly mine: string; // hashes
    readonly theirs: string | null;

    constructor(path: string, mine: string, theirs: string | null) {
        super(path);
        this.path = path;
        this.mine = mine;
        this.theirs = theirs;
    }
}

// A page that is not secure (a LAN address over http) has no crypto.subtle.
export async function sha256(bytes: Uint8Array): Promise<string> {
    const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
    const digest = subtle !== undefined
        ? new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
        : (await import('@noble/hashes/sha2.js')).sha256(bytes);
    return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function failure(answer: Response): Promise<Failure> {
    const body = await answer.json().catch(() => ({})) as { error?: { code?: string; message?: string } };
    const said = new Failure(answer.status, body.error?.code ?? '',
        body.error?.message ?? `the server answered ${answer.status}`);
    return new Failure(said.status, said.code, refusal(said));
}

export class Files {
    private readonly base: string;
    private readonly document: StudioDocument;
    private readonly kept = new Map<string, Uint8Array>(); // by hash, the one used longest ago first
    private keptBytes = 0;
    private readonly due = new Map<string, Uint8Array>(); // by hash: the server does not have them yet
    // Of the link, which sends what is due before any operation.
    isOnline = (): boolean => true;
    onDue = (): void => undefined;

    constructor(place: string, document: StudioDocument) {
        this.base = `/api/places/${encodeURIComponent(place)}/blob/`;
        this.document = document;
    }

    // Null: there is no such file.
    hashOf(path: string): string | null {
        return this.document.files().find((file) => file.path === path)?.hash ?? null;
    }

    async read(path: string): Promise<Uint8Array> {
        const hash = this.hashOf(path);
        if (hash === null) {
            throw new Failure(404, 'not_found', 'there is no such file');
        }
        return this.readHash(hash);
    }

    async readHash(hash: string): Promise<Uint8Array> {
        const known = this.due.get(hash) ?? this.kept.get(hash);
        if (known !== undefined) {
            return known;
        }
        const answer = await fetch(this.base + hash);
        if (!answer.ok) {
            throw await failure(answer);
        }
        const bytes = new Uint8Array(await answer.arrayBuffer());
        this.keep(hash, bytes);
        return bytes;
    }

    async text(path: string): Promise<string> {
        return new TextDecoder().decode(await this.read(path));
    }

    // `known` is the hash that the writer has seen; null: there was no file. Returns the new hash.
    async write(path: string, bytes: Uint8Array, known: string | null, label: string): Promise<string> {
        const hash = await this.store(bytes);
        const now = this.hashOf(path);
        if (now !== known) {
            throw new Conflict(path, hash, now);
        }
        if (now !== hash) {
            let why = '';
            const end = this.document.on('refused', (text) => { why = text; });
            const isDone = this.document.edit(label, [{ op: 'file', path, hash, known }]);
            end();
            if (!isDone) {
                throw new Failure(409, 'refused', why);
            }
        }
        return hash;
    }

    // Only the blob: the caller names it in an operation. While the server cannot be reached, or nobody is signed in, it
    // waits in this page like the operation.
    async store(bytes: Uint8Array): Promise<string> {
        const hash = await sha256(bytes);
        if (this.kept.has(hash)) {
            return hash;
        }
        if (this.isOnline()) {
            try {
                await this.put(hash, bytes);
                return hash;
            } catch (cause) {
                if (!isAway(cause)) {
                    throw cause;
                }
            }
        }
        this.due.set(hash, bytes);
        this.onDue();
        return hash;
    }

    hasDue(): boolean {
        return this.due.size > 0;
    }

    // One that the server refuses is given up: the session refuses the operation that names it, and says so.
    async storeDue(): Promise<void> {
        for (const [hash, bytes] of [...this.due]) {
            await this.put(hash, bytes).catch((cause: unknown) => {
                if (isAway(cause)) {
                    throw cause;
                }
            });
            this.due.delete(hash);
        }
    }

    private async put(hash: string, bytes: Uint8Array): Promise<void> {
        const answer = await fetch(this.base + hash, {
            method: 'PUT', headers: { 'X-Sandlot': '1', 'Content-Type': 'application/octet-stream' },
            body: bytes as Uint8Array<ArrayBuffer>,
        });
        if (!answer.ok) {
            throw await failure(answer);
        }
        this.keep(hash, bytes);
    }

    remove(path: string, label: string): void {
        const known = this.hashOf(path);
        if (known !== null) {
            this.document.edit(label, [{ op: 'file', path, hash: null, known }]);
        }
    }

    private keep(hash: string, bytes: Uint8Array): void {
        this.kept.set(hash, bytes);
        this.keptBytes += bytes.length;
        for (const [oldest, { length }] of this.kept) {
            if (this.keptBytes <= KEPT_BYTES_MAX || oldest === hash) {
                break;
            }
            this.kept.delete(oldest);
            this.keptBytes -= length;
        }
    }
}
