// What an operator has decided about a place, for those who work on it: that it waits, is not listed, or
// is removed; why, and what they can do.
import type { JSX } from 'preact';

import './decision.css';
import { words } from './words_place.ts';

export interface Decided {
    waits_for_approval: boolean;
    removed: boolean;
    moderation?: { state: string; reason: string } | null; // left out for those who do not work on it
}

export type Decision = keyof typeof words.decisions;

// A refusal counts while places have to be approved, and until it is published again.
export function decisionOf({ waits_for_approval: waits, removed, moderation }: Decided): Decision | null {
    return removed ? 'removed'
        : moderation?.state === 'unlisted' ? 'unlisted'
        : !waits ? null
        : moderation?.state === 'refused' ? 'refused' : 'waits';
}

export function DecisionNote({ place }: { place: Decided }): JSX.Element | null {
    const decision = decisionOf(place);
    if (decision === null) {
        return null;
    }
    const { title, text } = words.decisions[decision];
    const reason = place.moderation?.reason ?? '';
    return (
        <section class={`decision ${decision}`} role="status">
            <h2>{title}</h2>
            {decision !== 'waits' && reason !== '' && <p><strong>{words.decisionReason}</strong> {reason}</p>}
            <p>{text}</p>
        </section>
    );
}
