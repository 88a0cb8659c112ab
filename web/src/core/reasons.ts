// Why one cannot play, in words. The codes are those of docs/PROTOCOL.md.

const WORDS: Record<string, string> = {
    unsupported_version: 'This page does not fit the world. Reload it.',
    auth_required: 'The world wants a ticket. Join again.',
    auth_failed: 'The ticket is no longer good. Join again.',
    handshake_timeout: 'The world heard nothing from you in time.',
    world_full: 'The world is full.',
    busy: 'Too many are coming in at once.',
    stopping: 'The world is closing.',
    stopped: 'The world has closed.',
    replaced: 'You are playing in another window.',
    behind: 'The connection was too slow to keep up.',
    flood: 'Too many messages were sent at once.',
    internal: 'The world made a mistake.',
};

// Those after which trying again may help.
const PASSING = new Set([
    'auth_failed', 'handshake_timeout', 'world_full', 'busy', 'stopping', 'stopped', 'behind',
    'internal',
]);

export interface Reason {
    text: string;
    passing: boolean;
}

// What the world says of a kick begins small and has no full stop.
function sentence(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

// "code: message", as the client in WASM says it.
export function explain(reason: string): Reason {
    const colon = reason.indexOf(':');
    const code = colon < 0 ? reason : reason.slice(0, colon);
    const rest = colon < 0 ? '' : reason.slice(colon + 1).trim();
    const text = WORDS[code] ?? (rest === '' ? 'The session ended.' : sentence(rest));
    return { text, passing: PASSING.has(code) };
}
