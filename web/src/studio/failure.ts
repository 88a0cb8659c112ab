// What the server said when it refused something, as a sentence for people: some of its texts are for programs.
import { Failure } from '../site/api.ts';
import { words } from './words_studio.ts';

const FOR_PROGRAMS = /\b(?:GET|POST|PUT|PATCH|DELETE)\b|session_token|X-Sandlot/;

export const refusal = ({ status, code, message }: Failure): string =>
    code === 'auth_required' ? words.signInEnded : FOR_PROGRAMS.test(message) ? words.refusedBy(status) : message;

// Not decided: it is asked again when the server can be reached, or whoever it was has signed in again. What a fetch
// throws without a network is a TypeError.
export const isAway = (cause: unknown): boolean => cause instanceof TypeError ||
    cause instanceof Failure && (cause.status === 0 || cause.status === 401);
