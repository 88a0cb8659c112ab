// Who uses this page, for all of its parts.
import { signal } from '@preact/signals';

import { forgetAll, get, send } from './api.ts';
import type { Session } from './api.ts';

export const session = signal<Session | null>(null); // null: not known yet

export async function readSession(): Promise<void> {
    session.value = await get<Session>('/api/session').catch(() => session.value);
}

// A new document: nothing of what the last person could see is left.
export function leave(to: string): void {
    forgetAll();
    location.assign(to);
}

export async function signOut(to: string): Promise<void> {
    await send('POST', '/logout', {});
    leave(to);
}

export const hasRole = (who: Session | null, role: string): boolean =>
    who?.roles?.includes(role) === true;
