// Who this browser is signed in as, and which worlds are open to it. A world without accounts
// (`sandlot world`) knows neither.

export interface Session {
    accounts: boolean;
    default_place?: string;
    signed_in: boolean;
    shown_name?: string;
    is_guest?: boolean;
}

// As docs/HTTP.md has it, "Worlds".
export interface OpenWorld {
    roomCode: string;
    placeId: string;
    placeName: string | null; // null: nobody plays that place now
    players: number;
    playerMax: number;
}

export const OFFERED_MAX = 5;

async function get(path: string): Promise<unknown> {
    const answer = await fetch(path).catch(() => null);
    return answer?.ok === true ? answer.json() : null;
}

export async function readSession(): Promise<Session> {
    return await get('/api/session') as Session | null ?? { accounts: false, signed_in: false };
}

// What a place is called that is not for everybody: the page itself does not tell it, but whoever may see it is told.
export async function aboutPlace(room: string, place: string): Promise<{ title: string; isRemoved: boolean }> {
    if (place === '') {
        const world = await get(`/api/rooms/${encodeURIComponent(room)}`) as { placeName?: string | null } | null;
        return { title: world?.placeName ?? '', isRemoved: false };
    }
    const known = await get(`/api/places/${encodeURIComponent(place)}`) as { title?: string; removed?: boolean } | null;
    return { title: known?.title ?? '', isRemoved: known?.removed === true };
}

export async function allWorlds(): Promise<OpenWorld[]> {
    const list = await get('/worlds?limit=100') as { worlds: OpenWorld[] } | null;
    return list?.worlds ?? [];
}

// False: the server knows that there is none of that code.
export async function hasWorld(code: string): Promise<boolean> {
    return (await fetch(`/api/rooms/${encodeURIComponent(code)}`).catch(() => null))?.status !== 404;
}

export const hasRoom = (world: OpenWorld): boolean =>
    world.placeName !== null && world.players < world.playerMax;

// Where people are and one may come in, the fullest first.
export async function openWorlds(): Promise<OpenWorld[]> {
    return (await allWorlds()).filter((world) => world.players > 0 && hasRoom(world))
        .sort((a, b) => b.players - a.players).slice(0, OFFERED_MAX);
}
