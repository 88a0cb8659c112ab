// What the site asks the server for. A GET is remembered with its ETag, so that going back shows at once
// what was there and asks only whether it has changed.

import { localTimes } from '../ui/times.ts';

import { words } from './words.ts';

// Messages of the API begin small and have no full stop. A first word that is no plain word, such as the
// name of a file, stays as it is.
function sentence(text: string): string {
    const begun = /^[a-z]+[ ,;']/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
    return /[.!?:…]$/.test(begun) || begun === '' || begun.includes('\n') ? begun : `${begun}.`;
}

// The server refused or could not be reached; `message` is a sentence for people.
export class Failure extends Error {
    readonly status: number; // 0: not reached
    readonly code: string;
    readonly retryAfter: number; // seconds; 0: it did not say

    constructor(status: number, code: string, message: string, retryAfter = 0) {
        super(sentence(localTimes(message)));
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
    }
}

interface Kept {
    etag: string;
    body: unknown;
}

const KEPT_MAX = 64;
const kept = new Map<string, Kept>(); // by path, the one used longest ago first

function keep(path: string, entry: Kept): void {
    kept.delete(path);
    kept.set(path, entry);
    const oldest = kept.keys().next();
    if (kept.size > KEPT_MAX && !oldest.done) {
        kept.delete(oldest.value);
    }
}

// What the last answer was; for showing something at once.
export function known<T>(path: string): T | null {
    return kept.get(path)?.body as T | undefined ?? null;
}

// After somebody signed in or out, other things may be seen.
export function forgetAll(): void {
    kept.clear();
}

async function failure(answer: Response): Promise<Failure> {
    const body = await answer.json().catch(() => ({})) as
        { error?: { code?: string; message?: string } };
    const retry = Number(answer.headers.get('Retry-After') ?? 0);
    const code = body.error?.code ?? '';
    // What the API says of it is for programs: which header a token goes into.
    return new Failure(answer.status, code, code === 'auth_required' ? words.signInFirst
        : body.error?.message ?? `the server answered ${answer.status}`,
        Number.isFinite(retry) ? retry : 0);
}

async function ask(path: string, init: RequestInit): Promise<Response> {
    try {
        return await fetch(path, init);
    } catch (cause) {
        if (cause instanceof DOMException && cause.name === 'AbortError') {
            throw cause;
        }
        throw new Failure(0, 'unreachable', 'the server cannot be reached');
    }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const before = kept.get(path);
    const answer = await ask(path, {
        headers: before === undefined ? {} : { 'If-None-Match': before.etag },
        ...(signal === undefined ? {} : { signal }),
    });
    if (answer.status === 304 && before !== undefined) {
        keep(path, before);
        return before.body as T;
    }
    if (!answer.ok) {
        kept.delete(path);
        throw await failure(answer);
    }
    const body = await answer.json() as T;
    const etag = answer.headers.get('ETag');
    if (etag !== null) {
        keep(path, { etag, body });
    }
    return body;
}

// The header says that it is our own page that asks: another site's page cannot send it.
export async function send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string,
    body?: object): Promise<T> {
    const answer = await ask(path, {
        method,
        headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) {
        throw await failure(answer);
    }
    return (answer.status === 204 ? {} : await answer.json()) as T;
}

// --- what comes back -------------------------------------------------------------------------------

export interface Session {
    accounts: boolean;
    default_place?: string;
    signed_in: boolean;
    username?: string;
    shown_name?: string;
    is_guest?: boolean;
    roles?: string[];
    is_pupil?: boolean; // a child's account, made by a class
    may_rename?: boolean;
    typescript: boolean; // the server has a compiler for it
    typescript_lacks?: 'packages' | 'node';
    shared_urls?: string[]; // of a page at an address of one's own computer: where others reach the server
    registration?: 'open' | 'invite';
    issuer?: string; // the name of the issuer at which people may sign in
}

export interface PlaceCard {
    id: string;
    title: string;
    description: string;
    thumbnail: string | null;
    creator: string | null; // null: it came with the program
    creator_id: string;
    players: number;
    visits: number;
    votes_up: number;
    votes_down: number;
    updated_at: string;
    tags: string[];
}

export interface PlaceList {
    places: PlaceCard[];
    next: string | null;
}
