// What the gate offers to those who do not come in: other worlds if theirs is full, signing in if that has
// ended or guests do not come in.
import { type OpenWorld, OFFERED_MAX, allWorlds, hasRoom } from '../core/account.ts';

import { element } from './element.ts';

export function showSignIn(address: string): void {
    element('sign-in', HTMLAnchorElement).href = address;
    element('sign-in-line', HTMLParagraphElement).hidden = false;
}

// Whether somebody without an account may come in there.
export async function canBeGuest(room: string, place: string): Promise<boolean> {
    const find = (path: string): Promise<Response | null> => fetch(path, { credentials: 'omit' }).catch(() => null);
    const world = room === '' ? null : await find(`/api/rooms/${encodeURIComponent(room)}`);
    const { placeId } = world === null ? { placeId: place }
        : world.ok ? await world.json() as { placeId?: string } : { placeId: '' };
    return (placeId ?? '') !== '' && (await find(`/api/places/${encodeURIComponent(placeId ?? '')}`))?.ok === true;
}

export interface Others {
    place: OpenWorld | null; // the full world, of whose place there may be others
    worlds: OpenWorld[]; // those of the same place first, then the fullest
}

// Where else one may go when a world is full.
export async function otherWorlds(room: string): Promise<Others> {
    const all = await allWorlds();
    const place = all.find((world) => world.roomCode === room) ?? null;
    const isNear = (world: OpenWorld): number => world.placeId === place?.placeId ? 1 : 0;
    const worlds = all.filter((world) => world !== place && hasRoom(world))
        .sort((a, b) => isNear(b) - isNear(a) || b.players - a.players).slice(0, OFFERED_MAX);
    return { place, worlds };
}
