import { Failure } from './api.ts';
import { words } from './words.ts';

// What went wrong, as a sentence, and when to try again if the server said so.
export function messageOf(cause: unknown): string {
    if (!(cause instanceof Failure)) {
        return cause instanceof Error ? cause.message : String(cause);
    }
    const text = cause.status === 0 ? words.unreachable : cause.message;
    return cause.retryAfter > 0 ? `${text} ${words.retryIn(cause.retryAfter)}` : text;
}
