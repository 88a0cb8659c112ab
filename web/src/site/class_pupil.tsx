// A class as a pupil sees it: one's own places, and those that classmates show, to play them together.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { send } from './api.ts';
import { Saying, nameOf, playAddress, sorted, useAction, useEvery, usePlaces } from './class_parts.tsx';
import type { ClassPeople, ClassPlace } from './class_parts.tsx';
import { Thumbnail, Trouble } from './parts.tsx';
import { followJob, stopJob } from './upload.ts';
import { words } from './words_class.ts';

const AGAIN_MS = 5000;

interface Building {
    id: string;
    part: number;
}

// Builds the draft as it is and lets classmates see it, also when the pupil looks at another page meanwhile. False: it was
// cancelled.
async function showToClass(place: ClassPlace, said: (now: Building) => void): Promise<boolean> {
    const base = `/api/places/${encodeURIComponent(place.place_id)}`;
    const sent = await send<{ job_id: string }>('POST', `${base}/draft/publish`,
        { notes: words.show, channel: 'live' });
    said({ id: sent.job_id, part: 0 });
    const job = await followJob(sent.job_id, new AbortController().signal,
        (now) => said({ id: sent.job_id, part: now.progress_pct / 100 }));
    if (job.status === 'cancelled') {
        return false;
    }
    if (job.status !== 'done') {
        throw new Error(job.reason ?? words.buildFailed);
    }
    if (place.visibility === 'private') {
        await send('PATCH', base, { visibility: 'unlisted' });
    }
    return true;
}

function Own({ place, paused, changed }: {
    place: ClassPlace; paused: boolean; changed: () => void;
}): JSX.Element {
    const { said, busy, act } = useAction();
    const [building, setBuilding] = useState<Building | null>(null);
    const isShown = place.live !== null && place.visibility !== 'private';
    const show = (): void => act(async () => {
        try {
            return await showToClass(place, setBuilding) ? words.published : words.stopped;
        } finally {
            setBuilding(null);
            changed();
        }
    });
    return (
        <li class="work">
            <Thumbnail place={{ id: place.place_id, title: place.title, thumbnail: place.thumbnail }} />
            <strong class="title">{place.title}</strong>
            <span class="soft">{place.players > 0
                ? <span class="live">{words.plays(place.players)}</span>
                : isShown ? words.shown : words.onlyOwner}</span>
            <div class="ways">
                {place.live !== null && !paused && <a class="button" href={playAddress(place)}
                    aria-label={words.playNamed(place.title, nameOf(place))}>{words.play}</a>}
                {place.draft && <button type="button" class={isShown ? 'button quiet' : 'button'} disabled={busy}
                    aria-label={busy ? undefined
                        : isShown ? words.showAgainNamed(place.title) : words.showNamed(place.title)}
                    onClick={show}>{busy ? words.showing : isShown ? words.showAgain : words.show}</button>}
                {building !== null && <button type="button" class="button quiet"
                    onClick={() => stopJob(building.id)}>{words.cancel}</button>}
                <a class="button quiet" href={`/create/${encodeURIComponent(place.place_id)}`}
                    aria-label={words.workOnNamed(place.title)}>{words.workOn}</a>
            </div>
            {building !== null && <progress max={1} value={building.part} aria-label={words.showing} />}
            <Saying said={said} />
        </li>
    );
}

function Classmate({ place, paused }: { place: ClassPlace; paused: boolean }): JSX.Element {
    return (
        <li class="work">
            <Thumbnail place={{ id: place.place_id, title: place.title, thumbnail: place.thumbnail }} />
            <strong class="title">{place.title}</strong>
            <span class="soft">{words.by(nameOf(place))}</span>
            <span class="soft">{place.players > 0
                ? <span class="live">{words.plays(place.players)}</span> : words.nobody}</span>
            {!paused && <div class="ways">
                <a class="button" href={playAddress(place)}
                    aria-label={words.playNamed(place.title, nameOf(place))}>{words.play}</a>
            </div>}
        </li>
    );
}

export function PupilView({ one, me, again }: {
    one: ClassPeople; me: string; again: () => void;
}): JSX.Element {
    const list = usePlaces(one.class_id);
    useEvery(AGAIN_MS, again); // it may be paused
    const places = list.value ?? [];
    const own = places.filter((place) => place.username === me);
    const others = places.filter((place) => place.username !== me && place.live !== null);
    return (
        <>
            <h1>{one.name}</h1>
            <p class="soft">{words.taughtBy(one.teachers.map(nameOf).join(', '))}</p>
            {one.paused && <p class="notice paused" role="status">{words.pupilPaused}</p>}
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            <section>
                <h2>{words.mine}</h2>
                {list.value !== null && own.length === 0 && <p>{words.noMine}</p>}
                <ul class="cards">{own.map((place) =>
                    <Own key={place.place_id} place={place} paused={one.paused} changed={list.again} />)}</ul>
            </section>
            <section>
                <h2>{words.classmates}</h2>
                {list.value !== null && others.length === 0 && <p>{words.noClassmates}</p>}
                <ul class="cards">{others.map((place) =>
                    <Classmate key={place.place_id} place={place} paused={one.paused} />)}</ul>
            </section>
            <section>
                <h2>{words.who}</h2>
                <ul class="people">{sorted(one.pupils).map((pupil) =>
                    <li key={pupil.username}>{nameOf(pupil)}</li>)}</ul>
                <p class="soft">{words.chatIs[one.chat]}</p>
            </section>
        </>
    );
}
