// One place, for those who work on it: its page, what to do next, its draft and revisions, numbers,
// scripts, team, and its end.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { send } from './api.ts';
import './create.css';
import { DecisionNote, decisionOf } from './decision.tsx';
import type { Decided } from './decision.tsx';
import { GiveAway, Numbers, Pictures, TeamList } from './manage_parts.tsx';
import { Trouble, messageOf, useLoaded } from './parts.tsx';
import { DraftSection, Revisions } from './revisions.tsx';
import type { Revision } from './revisions.tsx';
import { go } from './route.ts';
import { session } from './session.ts';
import { ScriptCosts } from './scripts.tsx';
import { words as siteWords } from './words.ts';
import { words } from './words_create.ts';

export interface Managed extends Decided {
    place_id: string;
    title: string;
    description: string;
    visibility: 'private' | 'unlisted' | 'listed';
    open: boolean;
    live: string | null;
    beta: string | null;
    tags: string[];
    pictures: number[];
    own_thumbnail?: boolean; // it has one that was put on its page
    rights: string[];
}

// What people read about it. What was typed stays when the server says no.
function Details({ place, changed }: { place: Managed; changed: () => void }): JSX.Element {
    const [draft, setDraft] = useState(place);
    const [tags, setTags] = useState(place.tags.join(' '));
    const [said, setSaid] = useState('');
    const [wrong, setWrong] = useState<{ field: string; text: string }>({ field: '', text: '' });
    const [isBusy, setBusy] = useState(false);
    useEffect(() => setDraft((now) => ({ ...now, visibility: place.visibility })), [place.visibility]); // the rest stays as typed
    const base = `/api/places/${encodeURIComponent(place.place_id)}`;
    const save = async (event: Event): Promise<void> => {
        event.preventDefault();
        const { title, description, visibility, open } = draft;
        let field = 'title';
        setSaid('');
        setBusy(true);
        try {
            if (title !== place.title) {
                await send('PATCH', base, { title });
            }
            field = 'description';
            if (description !== place.description) {
                await send('PATCH', base, { description });
            }
            field = 'tags';
            await send('PUT', `${base}/tags`, { tags: tags.split(/[\s,]+/).filter((tag) => tag !== '') });
            field = 'visibility';
            await send('PATCH', base, { visibility, open });
            setSaid(visibility === 'listed' && place.live === null
                ? `${siteWords.saved} ${words.nextListed}` : siteWords.saved);
            setWrong({ field: '', text: '' });
            changed();
        } catch (cause) {
            setWrong({ field, text: messageOf(cause) });
            document.getElementById(field)?.focus();
        }
        setBusy(false);
    };
    // What is said of a field, below it.
    const at = (field: string): JSX.Element => (
        <p id={`${field}-wrong`} class="wrong" role="alert">{wrong.field === field ? wrong.text : ''}</p>
    );
    const about = (field: string, hint = ''): Record<string, string | boolean> => (
        { 'aria-describedby': `${hint} ${field}-wrong`.trim(), 'aria-invalid': wrong.field === field });
    return (
        <form class="form" onSubmit={(event) => void save(event)}>
            <label for="title">{words.name}</label>
            <input id="title" required maxLength={60} value={draft.title} {...about('title')}
                onInput={(event) => setDraft({ ...draft, title: event.currentTarget.value })} />
            {at('title')}
            <label for="description">{words.about}</label>
            <textarea id="description" rows={7} value={draft.description} {...about('description', 'about-hint')}
                onInput={(event) => setDraft({ ...draft, description: event.currentTarget.value })} />
            <p id="about-hint" class="soft">{words.aboutHint}</p>
            {at('description')}
            <label for="tags">{words.tags}</label>
            <input id="tags" value={tags} {...about('tags', 'tags-hint')}
                onInput={(event) => setTags(event.currentTarget.value)} />
            <p id="tags-hint" class="soft">{words.tagsHint}</p>
            {at('tags')}
            <label for="visibility">{words.who}</label>
            <select id="visibility" value={draft.visibility} {...about('visibility')} onChange={(event) => setDraft(
                { ...draft, visibility: event.currentTarget.value as Managed['visibility'] })}>
                {visibilities().map(([each, text]) =>
                    <option key={each} value={each}>{text}</option>)}
            </select>
            {at('visibility')}
            <label class="check"><input type="checkbox" checked={draft.open}
                onChange={(event) => setDraft({ ...draft, open: event.currentTarget.checked })} />
            {words.open}</label>
            <button class="button" type="submit" disabled={isBusy}>{siteWords.save}</button>
            <p class="soft" role="status">{said}</p>
        </form>
    );
}

// A child's place is closed to everybody outside of the class, whatever it says.
const visibilities = (): [string, string][] => session.value?.is_pupil === true
    ? Object.entries(words.visibilityClass) : Object.entries(words.visibility);

// The one thing to do before others can play it, with a button that does it.
function NextStep({ place, revisions, hasDraft, changed }: {
    place: Managed; revisions: Revision[]; hasDraft: boolean; changed: () => void;
}): JSX.Element | null {
    const [said, setSaid] = useState('');
    const base = `/api/places/${encodeURIComponent(place.place_id)}`;
    const ready = revisions.find((revision) => revision.state === 'ready')?.revision_id;
    const act = async (ask: () => Promise<unknown>): Promise<void> => {
        try {
            await ask();
            setSaid('');
            changed();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    const isPupil = session.value?.is_pupil === true;
    if (place.live !== null && (place.visibility === 'listed' || place.waits_for_approval || (isPupil && place.visibility !== 'private'))) {
        return null;
    }
    const text = place.live !== null ? isPupil ? words.nextClass : place.visibility === 'private' ? words.nextList : words.nextListLink
        : ready !== undefined ? words.nextLive(ready) : hasDraft ? words.nextPublish : words.nextUpload;
    return (
        <section class="lead">
            <h2>{words.next}</h2>
            <p>{text}</p>
            {place.live === null && ready !== undefined && <button type="button" class="button"
                onClick={() => void act(() => send('POST', `${base}/channels/live`, { revision_id: ready }))}>
                {words.liveNow(ready)}</button>}
            {place.live === null && ready === undefined && hasDraft && <a class="button"
                href={`/studio/${encodeURIComponent(place.place_id)}`}>{words.studio}</a>}
            {place.live === null && ready === undefined && hasDraft && <>{' '}<a class="button quiet"
                href={`/studio/${encodeURIComponent(place.place_id)}?tour`}>{words.studioTour}</a></>}
            {place.live !== null && <button type="button" class="button"
                onClick={() => void act(() => send('PATCH', base, { visibility: isPupil ? 'unlisted' : 'listed' }))}>
                {isPupil ? words.classNow : words.listNow}</button>}
            <p class="wrong" role="alert">{said}</p>
        </section>
    );
}

function Away({ base }: { base: string }): JSX.Element {
    const [said, setSaid] = useState('');
    const discard = async (): Promise<void> => {
        try {
            await send('DELETE', base);
            go('/create');
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    return (
        <section>
            <h2>{words.end}</h2>
            <p class="soft">{words.endHint}</p>
            <button type="button" class="button quiet" onClick={() => void discard()}>{words.discard}</button>
            <p class="wrong" role="alert">{said}</p>
        </section>
    );
}

export function ManagePage({ id }: { id: string }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(id)}`;
    const loaded = useLoaded<Managed>(base);
    const revisions = useLoaded<{ revisions: Revision[] }>(`${base}/revisions`);
    const [hasDraft, setDraft] = useState(false);
    const place = loaded.value;
    useEffect(() => {
        if (place !== null) {
            document.title = `${place.title} · ${siteWords.name}`;
        }
    }, [place?.title]);
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    if (place === null) {
        return <p role="status">{siteWords.loading}</p>;
    }
    if (!place.rights.includes('edit')) {
        return <div class="empty"><h1>{place.title}</h1>
            {decisionOf(place) === null ? <p>{words.notYours}</p> : <DecisionNote place={place} />}
            <p><a class="button" href={`/place/${encodeURIComponent(place.place_id)}`}>{words.seePage}</a></p>
        </div>;
    }
    const changed = (): void => {
        loaded.again();
        revisions.again();
    };
    return (
        <>
            <h1>{place.title}</h1>
            <p class="ways">
                <a class="button" href={`/place/${encodeURIComponent(place.place_id)}`}>{words.seePage}</a>
            </p>
            <DecisionNote place={place} />
            {revisions.value !== null && <NextStep place={place} revisions={revisions.value.revisions}
                hasDraft={hasDraft} changed={changed} />}
            <div class="two">
                <section><h2>{words.details}</h2>
                    <Details place={place} changed={changed} /></section>
                <div>
                    <DraftSection place={place} changed={changed} found={setDraft} />
                    <Revisions place={place} list={revisions} changed={changed} />
                </div>
            </div>
            <Pictures place={place} changed={changed} />
            <Numbers id={id} />
            <ScriptCosts id={id} />
            {place.rights.includes('own') && <div class="two">
                <TeamList id={id} />
                <div><GiveAway id={id} /><Away base={base} /></div>
            </div>}
        </>
    );
}
