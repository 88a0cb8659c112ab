// A change that the player's account makes, fetched when it is first wanted.
import { sentence } from '../core/reasons.ts';
import { words } from '../ui/words.ts';

interface Failure {
    error?: { message?: string };
}

// The header says that this is our own page. Null: it was done; otherwise why not.
export async function change(method: string, path: string, body: object | null): Promise<string | null> {
    const answer = await fetch(path, {
        method,
        headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
        ...(body === null ? {} : { body: JSON.stringify(body) }),
    }).catch(() => null);
    if (answer?.ok === true) {
        return null;
    }
    const failure = await answer?.json().catch(() => ({})) as Failure | undefined;
    const why = failure?.error?.message;
    return why === undefined ? words.unreachable : sentence(why);
}
