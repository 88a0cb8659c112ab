// Why one cannot play, in words. The codes are those of docs/PROTOCOL.md.
import { linkWords as words } from '../ui/link_words.ts';
import { localTimes } from '../ui/times.ts';
import type { Trouble } from './channel.ts';

// Those after which trying again may help.
const PASSING = new Set([
    'auth_failed', 'handshake_timeout', 'world_full', 'busy', 'stopping', 'stopped', 'moved',
    'behind',
    'internal',
]);

const TROUBLES: Record<string, Trouble> = { world_full: 'full', replaced: 'replaced' };

export interface Reason {
    text: string;
    passing: boolean;
    soon: boolean; // trying again at once helps
    trouble?: Trouble;
}

// What servers and worlds say begins small and has no full stop.
export function sentence(text: string): string {
    const whole = text === '' ? words.wrong : localTimes(text);
    return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${/[.!?]$/.test(whole) ? '' : '.'}`;
}

// "code: message", as the client in WASM says it.
export function explain(reason: string): Reason {
    const colon = reason.indexOf(':');
    const code = colon < 0 ? reason : reason.slice(0, colon);
    const rest = colon < 0 ? '' : reason.slice(colon + 1).trim();
    const known: Record<string, string> = words.reasons;
    const text = known[code] ?? (rest === '' ? words.ended : sentence(rest));
    const trouble = TROUBLES[code];
    return { text, passing: PASSING.has(code), soon: code === 'moved', ...trouble === undefined ? {} : { trouble } };
}
