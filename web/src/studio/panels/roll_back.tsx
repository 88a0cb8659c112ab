// Earlier revisions of the place: which one players have, and the way back to one that worked.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { get, send } from '../../site/api.ts';
import { messageOf } from '../../site/message.ts';
import { words } from '../words_studio.ts';

const SHOWN = 8;

interface Revision {
    revision_id: string;
    state: string;
    notes: string;
    created_at: string;
}

export function RollBack({ base, live, changed }: { base: string; live: string; changed: (live: string) => void }): JSX.Element | null {
    const [revisions, setRevisions] = useState<Revision[]>([]);
    const [said, setSaid] = useState('');
    useEffect(() => {
        get<{ revisions: Revision[] }>(`${base}/revisions?limit=${SHOWN}`).then((list) => setRevisions(list.revisions),
            (cause: unknown) => setSaid(messageOf(cause)));
    }, [live]);
    const goBack = async (revision: string): Promise<void> => {
        try {
            await send('POST', `${base}/channels/live`, { revision_id: revision });
            setSaid(words.rolledBack(revision));
            changed(revision);
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    const earlier = revisions.filter(({ state, revision_id: id }) => state === 'ready' || id === live);
    return earlier.length === 0 ? null : (
        <details class="roll-back">
            <summary>{words.revisions}</summary>
            <ul class="lines">{earlier.map(({ revision_id: id, notes, created_at: at }) => (
                <li key={id}><strong>{id}</strong> <span>{notes}</span> <time class="soft" dateTime={at}>{new Date(at).toLocaleString()}</time>{' '}
                    {id === live ? <span class="soft end">{words.isLive}</span>
                        : <button type="button" class="end" onClick={() => void goBack(id)}>{words.rollBack(id)}</button>}</li>
            ))}</ul>
            <p role="status">{said}</p>
        </details>
    );
}
