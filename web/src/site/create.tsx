// One's places: those one owns or works on, new ones, and what lies in the trash.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Dialog } from '../ui/parts.tsx';

import './create.css';
import { send } from './api.ts';
import type { Session } from './api.ts';
import { More, Thumbnail, Trouble, mayMake, messageOf, useLoaded, useRest } from './parts.tsx';
import { go, signInPath } from './route.ts';
import { Sending } from './sending.tsx';
import { session } from './session.ts';
import { words as siteWords } from './words.ts';
import { words } from './words_create.ts';
import { words as placeWords } from './words_place.ts';
import { decisionOf } from './decision.tsx';

interface MyPlace {
    place_id: string;
    title: string;
    role: string;
    visibility: 'private' | 'unlisted' | 'listed';
    live: string | null;
    players?: number;
    updated_at: string;
    trashed_at: string | null;
    waits_for_approval: boolean;
    removed: boolean;
    moderation?: { state: string; reason: string } | null; // for those who may edit it
}

// A pupil's places are those that the teacher handed out. What an operator decided counts more than what the owner wants.
function visibilityOf(place: MyPlace): string {
    const { visibility } = place;
    const decision = decisionOf(place);
    return decision !== null ? placeWords.decisions[decision].short
        : session.value?.is_pupil === true && visibility !== 'listed' ? words.visibilityClass[visibility] : words.visibility[visibility];
}

function reasonOf(place: MyPlace): string {
    const decision = decisionOf(place);
    return decision === null || decision === 'waits' ? '' : place.moderation?.reason ?? '';
}

function Mine({ place, changed }: { place: MyPlace; changed: () => void }): JSX.Element {
    const [said, setSaid] = useState('');
    const [isAsking, setAsking] = useState(false);
    const restore = async (): Promise<void> => {
        try {
            await send('POST', `/api/places/${encodeURIComponent(place.place_id)}/restore`, {});
            changed();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    const purge = async (): Promise<void> => {
        try {
            await send('DELETE', `/api/places/${encodeURIComponent(place.place_id)}?purge=1`);
            changed();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
        setAsking(false);
    };
    // Testers have nothing to change: the page of the place has the ways into its beta and its draft.
    const way = place.role === 'tester' ? 'place' : 'create';
    const title = place.title === '' ? words.nameless : place.title;
    return (
        <li class="mine">
            <Thumbnail place={{ id: place.place_id, title: place.title, thumbnail: place.trashed_at === null
                ? `/api/places/${encodeURIComponent(place.place_id)}/pictures/0` : null }} />
            <div>
                {place.trashed_at === null
                    ? <a href={`/${way}/${encodeURIComponent(place.place_id)}`}><strong>{title}</strong></a>
                    : <strong>{title}</strong>}
                <p class="soft">
                    {words.roles[place.role as keyof typeof words.roles] ?? place.role}
                    {' · '}{visibilityOf(place)}
                    {' · '}{place.live === null ? words.notLive : words.isLive(place.live)}
                    {' · '}{siteWords.day(place.updated_at)}
                </p>
                {reasonOf(place) !== '' && <p><strong>{placeWords.decisionReason}</strong> {reasonOf(place)}</p>}
                {place.trashed_at === null && !place.removed && (place.role === 'owner' || place.role === 'editor') && <a class="button quiet"
                    href={`/studio/${encodeURIComponent(place.place_id)}`}>{words.studio}</a>}
                {place.trashed_at !== null && <div class="ways">
                    <button type="button" class="button quiet" onClick={() => void restore()}>{words.restore}</button>
                    {place.role === 'owner' && <button type="button" class="button quiet"
                        onClick={() => setAsking(true)}>{words.purge}</button>}
                </div>}
                {isAsking && <Dialog title={words.purgeTitle(title)} onClose={() => setAsking(false)}>
                    <p class="about">{words.purgeText}</p>
                    <div class="ways">
                        <button type="button" class="button danger" onClick={() => void purge()}>{words.purge}</button>
                        <button type="button" class="button quiet" onClick={() => setAsking(false)}>{siteWords.cancel}</button>
                    </div>
                </Dialog>}
                <p class="wrong" role="alert">{said}</p>
            </div>
        </li>
    );
}

// What a template looks like, drawn: a course of blocks that rises to a flag, or a floor under a sky.
function TemplatePicture({ name }: { name: string }): JSX.Element {
    const steps = name === 'obby' ? [0, 1, 2, 3, 4] : [];
    return (
        <svg class="thumbnail drawn" viewBox="0 0 320 180" aria-hidden="true">
            <rect class="sky" width="320" height="180" />
            <circle class="sun" cx={54} cy={42} r={20} />
            {name === 'blank' && <g class="shade-1"><path d="M40 150l60 -34h180l-60 34z" />
                <path class="side" d="M40 150h180v10h-180z" /></g>}
            {steps.map((step) => <g key={step} class={step === 2 ? 'lava' : 'shade-1'}>
                <rect x={24 + step * 56} y={142 - step * 22} width="40" height="14" />
                <path class="top" d={`M${24 + step * 56} ${142 - step * 22}l8 -8h40l-8 8z`} />
            </g>)}
            {name === 'obby' && <path class="lava" d="M268 48v-38l26 10l-22 9v19z" />}
        </svg>
    );
}

interface Offer {
    place_id: string;
    title: string;
    creator: { username: string; shown_name: string } | null;
}

// What others want to give to whoever looks.
function Offers({ changed }: { changed: () => void }): JSX.Element | null {
    const list = useLoaded<{ offers: Offer[] }>('/api/me/offers');
    const [said, setSaid] = useState('');
    const answer = async (offer: Offer, word: 'accept' | 'decline'): Promise<void> => {
        try {
            await send('POST', `/api/places/${encodeURIComponent(offer.place_id)}/${word}`, {});
            setSaid('');
            list.again();
            changed();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    const offers = list.value?.offers ?? [];
    if (offers.length === 0) {
        return null;
    }
    return (
        <section>
            <h2>{words.offers}</h2>
            <ul class="list">{offers.map((offer) => (
                <li key={offer.place_id} class="revision">
                    <span>{words.offer(offer.title, offer.creator?.shown_name ?? words.somebody)}</span>
                    <span class="ways">
                        <button type="button" class="button" onClick={() => void answer(offer, 'accept')}>
                            {words.accept}</button>
                        <button type="button" class="button quiet"
                            onClick={() => void answer(offer, 'decline')}>{words.decline}</button>
                    </span>
                </li>
            ))}</ul>
            <p class="wrong" role="alert">{said}</p>
        </section>
    );
}

// From a template: a draft on the server, to be worked on.
function FromTemplate(): JSX.Element {
    const [title, setTitle] = useState('');
    const [template, setTemplate] = useState('obby');
    const [typescript, setTypescript] = useState(false);
    const [said, setSaid] = useState('');
    const [isBusy, setBusy] = useState(false);
    const hasTypescript = session.value?.typescript !== false; // null: not known yet
    const make = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true); // pressed twice, it would make two
        try {
            const made = await send<{ place_id: string }>('POST', '/api/drafts',
                { title: title.trim(), template, typescript });
            go(`/create/${encodeURIComponent(made.place_id)}`);
        } catch (cause) {
            setSaid(messageOf(cause));
            setBusy(false);
            document.getElementById('new-title')?.focus();
        }
    };
    return (
        <form class="form" onSubmit={(event) => void make(event)}>
            <label for="new-title">{words.name}</label>
            <input id="new-title" required maxLength={60} value={title} aria-describedby="new-said"
                aria-invalid={said !== ''}
                onInput={(event) => { setTitle(event.currentTarget.value); setSaid(''); }} />
            <p id="new-said" class="wrong" role="alert">{said}</p>
            <fieldset class="choices">
                <legend>{words.template}</legend>
                {Object.entries(words.templates).map(([name, { name: called, about }]) => (
                    <label key={name}>
                        <input type="radio" name="template" value={name} checked={template === name}
                            onChange={() => setTemplate(name)} />
                        <TemplatePicture name={name} />
                        <strong>{called}</strong>
                        <span class="soft">{about}</span>
                    </label>
                ))}
            </fieldset>
            <label class="check"><input type="checkbox" checked={typescript} disabled={!hasTypescript}
                aria-describedby="new-typescript" onChange={(event) => setTypescript(event.currentTarget.checked)} />
            {words.typescript}</label>
            {!hasTypescript && <p id="new-typescript" class="soft">{siteWords.noTypescript[session.value?.typescript_lacks ?? 'node']}</p>}
            <button class="button" type="submit" disabled={isBusy}>{isBusy ? words.making : words.make}</button>
        </form>
    );
}

// A place of which nothing was accepted is none.
async function takeBack({ place_id: id }: { place_id: string }): Promise<void> {
    const path = `/api/places/${encodeURIComponent(id)}`;
    await send('DELETE', path);
    await send('DELETE', `${path}?purge=1`);
}

interface MyPlaces {
    places: MyPlace[];
    next: string | null;
}

const MINE = '/api/me/places?limit=100';

export function CreatePage({ session }: { session: Session | null }): JSX.Element {
    const list = useLoaded<MyPlaces>(session?.signed_in === true ? MINE : null);
    const rest = useRest(MINE, list.value, 'after');
    useEffect(() => {
        document.title = `${words.title} · ${siteWords.name}`;
    }, []);
    const changed = list.again;
    if (session === null) {
        return <p role="status">{siteWords.loading}</p>;
    }
    if (!session.signed_in || session.is_guest === true) {
        return (
            <div class="empty">
                <h1>{words.title}</h1>
                <p>{words.needAccount}</p>
                <p><a class="button" href={signInPath()}>{siteWords.signIn}</a></p>
            </div>
        );
    }
    const isMaker = mayMake(session);
    const places = [list.value, ...rest.pages].flatMap((page) => page?.places ?? []);
    const kept = places.filter((place) => place.trashed_at === null);
    const trash = places.filter((place) => place.trashed_at !== null);
    return (
        <>
            <h1>{words.title}</h1>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value === null && list.failure === null && <p role="status">{siteWords.loading}</p>}
            {list.value !== null && kept.length === 0 && isMaker && <p>{words.none}</p>}
            <ul class="list">{kept.map((place) =>
                <Mine key={place.place_id} place={place} changed={changed} />)}</ul>
            <More rest={rest} />
            <Offers changed={changed} />
            {!isMaker ? session.is_pupil === true
                ? <p>{words.pupilHint} <a href="/class">{siteWords.who.classes}</a></p> : <p>{words.needRole}</p> : <div class="two">
                <section><h2>{words.fromTemplate}</h2><FromTemplate /></section>
                <section><h2>{words.fromFile}</h2>
                    <Sending label={words.upload} notes={words.firstNotes}
                        path={(notes) => `/api/places?${new URLSearchParams({ notes })}`}
                        done={(sent) => go(`/create/${encodeURIComponent(sent.place_id)}`)}
                        refused={takeBack} />
                </section>
            </div>}
            {trash.length > 0 && <section>
                <h2>{words.trash}</h2>
                <p class="soft">{words.trashHint}</p>
                <ul class="list">{trash.map((place) =>
                    <Mine key={place.place_id} place={place} changed={changed} />)}</ul>
            </section>}
        </>
    );
}
