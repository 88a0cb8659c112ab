// The way in over HTTP: a sign-in, then a ticket for a world and the address of its socket.

// With accounts the sign-in is a cookie that no script can read, and there is no token.
export interface SignIn {
    session_token?: string;
    username: string;
}

export interface Ticket {
    server_address: string;
    ticket: string;
    room_code: string;
    signing_key: string; // of the host, hex: what it signs its manifests with
    rune_packing?: number; // how it packs runes
    cdn_base?: string; // where else scene and runes are, by hash
    place_id: string;
    world_id: string;
    rune_set?: string; // the name of all runes together: one file, there and here
}

const ANSWER_MS = 60_000; // a world that has to be started first takes a while

// The server refused, with a reason: trying again without the player would not help.
export class Refused extends Error {
    readonly status: number;
    readonly code: string;

    constructor(message: string, status: number, code: string) {
        super(message);
        this.status = status;
        this.code = code;
    }
}

// The server cannot now, and says why.
export class Later extends Error {}

interface Failure {
    error?: { code?: string; message?: string };
}

async function post(url: string, body: object, token: string, cookies = true): Promise<unknown> {
    // The header says that this is our own page: another site's cannot send it. With it a sign-in is a
    // cookie, without it a token.
    const headers: Record<string, string> = {
        'Content-Type': 'application/json', ...(cookies ? { 'X-Sandlot': '1' } : {}),
    };
    if (token !== '') {
        headers.Authorization = `Bearer ${token}`;
    }
    const answer = await fetch(url, {
        method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (answer.ok) {
        return answer.json();
    }
    const failure = await answer.json().catch(() => ({})) as Failure;
    const reason = failure.error?.message ?? `the server answered ${answer.status}`;
    // 5xx may pass; anything else will be the same next time.
    throw answer.status >= 500 ? new Later(reason)
        : new Refused(reason, answer.status, failure.error?.code ?? '');
}

// `asToken`: for this visit alone, where the browser keeps no cookies.
export async function signIn(origin: string, name: string, asToken: boolean): Promise<SignIn> {
    return await post(`${origin}/login`, name === '' ? {} : { username: name }, '', !asToken) as SignIn;
}

// Where one wants to go: to a world, or to any world of a place. With neither the server chooses.
export interface Wish {
    room: string;
    place: string;
    channel: string; // of the place; '': live
}

export async function join(origin: string, wish: Wish, token: string): Promise<Ticket> {
    const body = wish.room !== '' ? { world_id: wish.room }
        : wish.place === '' ? {}
        : wish.channel === '' ? { place_id: wish.place }
        : { place_id: wish.place, channel: wish.channel };
    return await post(`${origin}/join`, body, token) as Ticket;
}
