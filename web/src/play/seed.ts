import type { Person } from './people.ts';

// What is chosen for who has not chosen: the same each time, in whichever body.
export function seedOf(person: Person | undefined, body: number): number {
    return [...person?.playerId ?? ''].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0) & 0xfffffff, 0) || body;
}
