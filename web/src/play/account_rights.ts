// What the player's account may do about others: block them, and as an owner or operator remove them
// from the world; and whether it may see what the world's scripts cost. A server without accounts has neither.
import { signal } from '@preact/signals';

import type { Person } from './people.ts';

// As the HTTP API names accounts; a guest's name is shown behind a "~".
export const accountOf = ({ player, name }: Pick<Person, 'player' | 'name'>): string =>
    `${name.startsWith('~') ? 'guest' : 'user'}_${player.toString(16)}`;

async function read(path: string): Promise<Record<string, unknown> | null> {
    const answer = await fetch(path).catch(() => null);
    return answer?.ok === true ? await answer.json() as Record<string, unknown> : null;
}

async function change(method: string, path: string, body: object | null): Promise<string | null> {
    return (await import('./account_change.ts')).change(method, path, body);
}

export class AccountRights {
    readonly canBlock = signal(false);
    readonly canKick = signal(false);
    canSeeScripts = false; // what the world's scripts cost, and their faults
    readonly blocked = signal<ReadonlySet<string>>(new Set()); // accounts
    room = ''; // the world one is in
    world = ''; // its id

    async load(): Promise<void> {
        const [rights, list] = await Promise.all(
            [this.world === '' ? null : read(`/api/worlds/${this.world}/rights`), read('/api/me/blocks')]); // none in the Studio
        this.canKick.value = rights?.kick === true;
        this.canSeeScripts = rights?.scripts === true;
        this.canBlock.value = list !== null;
        const blocks = Array.isArray(list?.blocks) ? list.blocks as { account?: unknown }[] : [];
        this.blocked.value = new Set(blocks.map(({ account: who }) => String(who)));
    }

    isBlocked(person: Person): boolean {
        // The server writes a guest who has registered since by the other word.
        const number = `_${person.player.toString(16)}`;
        return [...this.blocked.value].some((account) => account.endsWith(number));
    }

    // Null, or why not.
    async block(person: Person, blocked: boolean): Promise<string | null> {
        const account = accountOf(person);
        const failure = await change(blocked ? 'PUT' : 'DELETE', `/api/me/blocks/${account}`, null);
        if (failure === null) {
            const rest = [...this.blocked.value].filter((each) =>
                !each.endsWith(`_${person.player.toString(16)}`));
            this.blocked.value = new Set(blocked ? [...rest, account] : rest);
        }
        return failure;
    }

    // The reason is read by who is removed.
    kick(person: Person, reason: string): Promise<string | null> {
        return change('POST', `/api/worlds/${this.world}/kick`, {
            player: accountOf(person), ...reason === '' ? {} : { reason },
        });
    }
}
