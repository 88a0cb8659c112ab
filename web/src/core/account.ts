// Who this browser is signed in as, and which worlds are open to it. A world without accounts
// (`sandlot world`) knows neither.

export interface Session {
    accounts: boolean;
    default_place?: string;
    signed_in: boolean;
    shown_name?: string;
    is_guest?: boolean;
}

export interface OpenWorld {
    room_code: string;
    place_name: string;
    players: number;
}

async function get(path: string): Promise<unknown> {
    const answer = await fetch(path).catch(() => null);
    return answer?.ok === true ? answer.json() : null;
}

export async function readSession(): Promise<Session> {
    return await get('/api/session') as Session | null ?? { accounts: false, signed_in: false };
}

// Where people are, the fullest first.
export async function openWorlds(): Promise<OpenWorld[]> {
    const list = await get('/worlds?limit=100') as { worlds: OpenWorld[] } | null;
    return (list?.worlds ?? []).filter((world) => world.players > 0)
        .sort((a, b) => b.players - a.players).slice(0, 5);
}
