// What several pages of the site are made of.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Failure, get, known } from './api.ts';
import type { PlaceCard, Session } from './api.ts';
import { usePlayers } from './live.ts';
import { messageOf } from './message.ts';
import { entry, keepInEntry, signInPath } from './route.ts';
import { session } from './session.ts';
import { words } from './words.ts';

export { messageOf };

// What a path answers: at once what it was last time, then what it is now.
export interface Loaded<T> {
    value: T | null;
    failure: Failure | null;
    again: () => void;
}

export function useLoaded<T>(path: string | null): Loaded<T> {
    const [state, setState] = useState<{ path: string | null; value: T | null; failure: Failure | null }>(
        { path: null, value: null, failure: null });
    const [count, setCount] = useState(0);
    useEffect(() => {
        const ended = new AbortController();
        if (path !== null) {
            get<T>(path, ended.signal)
                .then((value) => setState({ path, value, failure: null }))
                .catch((cause: unknown) => {
                    if (cause instanceof Failure) {
                        setState({ path, value: null, failure: cause });
                    }
                });
        }
        return () => ended.abort();
    }, [path, count]);
    const isCurrent = state.path === path;
    return {
        value: isCurrent && state.failure === null ? state.value : path === null ? null : known<T>(path),
        failure: isCurrent ? state.failure : null,
        again: () => setCount(count + 1),
    };
}

// --- lists of which more can be asked for ------------------------------------------------------------

interface Page {
    next: string | number | null;
}

const PAGES_AGAIN_MAX = 20;

// The pages behind the first one, as many as were shown when somebody went elsewhere.
export async function fetchRest<P extends Page>(first: P, count: number, after: (next: string) => string,
    signal: AbortSignal): Promise<P[]> {
    const rest: P[] = [];
    for (let { next } = first; next !== null && rest.length < Math.min(count, PAGES_AGAIN_MAX);) {
        const page = await get<P>(after(String(next)), signal);
        rest.push(page);
        next = page.next;
    }
    return rest;
}

export interface Rest<P> {
    pages: P[];
    hasMore: boolean;
    more: () => void;
    failure: Failure | null;
}

// What was asked for behind the first page of `path`. How many pages that are is kept with the entry of the history: whoever comes
// back finds the list as it was. A list that was read anew has as many pages as before.
export function useRest<P extends Page>(path: string, first: P | null, cursor: 'after' | 'before'): Rest<P> {
    const [pages, setPages] = useState<P[]>([]);
    const [failure, setFailure] = useState<Failure | null>(null);
    const after = (next: string): string => `${path}&${cursor}=${encodeURIComponent(next)}`;
    useEffect(() => setPages([]), [path]);
    useEffect(() => {
        const ended = new AbortController();
        const count = entry().pages ?? 0;
        if (first !== null && count > 0) {
            fetchRest(first, count, after, ended.signal).then(setPages, () => {}); // the button is still there
        }
        return () => ended.abort();
    }, [first]);
    const next = (pages.at(-1) ?? first)?.next ?? null;
    const more = (): void => {
        get<P>(after(String(next))).then((page) => {
            setPages([...pages, page]);
            keepInEntry({ pages: pages.length + 1 });
            setFailure(null);
        }, (cause: unknown) => setFailure(cause instanceof Failure ? cause : null));
    };
    return { pages, hasMore: next !== null, more, failure };
}

// The button for more of a list, and why it failed.
export function More<P>({ rest }: { rest: Rest<P> }): JSX.Element | null {
    return rest.hasMore || rest.failure !== null ? (
        <>
            {rest.failure !== null && <p class="wrong" role="alert">{messageOf(rest.failure)}</p>}
            <p><button type="button" class="button quiet" onClick={rest.more}>{words.more}</button></p>
        </>
    ) : null;
}

// May they make places? Where the server does not tell roles here, it says so when they try.
export function mayMake({ signed_in, is_guest, roles }: Session): boolean {
    return signed_in && is_guest !== true &&
        (roles === undefined || roles.some((role) => role === 'creator' || role === 'operator'));
}

export function Trouble({ failure, again }: { failure: Failure; again: () => void }): JSX.Element {
    if (failure.status === 404) {
        return <NotFound />;
    }
    return (
        <div class="trouble" role="alert">
            <p>{failure.status === 0 ? words.unreachable : failure.message}</p>
            {failure.retryAfter > 0 && <p>{words.retryIn(failure.retryAfter)}</p>}
            <button type="button" class="button" onClick={again}>{words.again}</button>
        </div>
    );
}

export function NotFound(): JSX.Element {
    const isNobody = session.value?.signed_in === false;
    useEffect(() => {
        document.title = `${words.notFound} · ${words.name}`;
    }, []);
    return (
        <div class="empty">
            <h1>{words.notFound}</h1>
            <p>{isNobody ? words.notFoundGuest : words.notFoundHint}</p>
            <p class="ways">
                <a class="button" href="/">{words.toDiscover}</a>
                {isNobody && <a class="button quiet" href={signInPath()}>{words.signIn}</a>}
            </p>
        </div>
    );
}

// Without a picture, a landscape of blocks is drawn: always the same one for the same place.
function Drawn({ id, letter }: { id: string; letter: string }): JSX.Element {
    let seed = 7;
    for (const each of id) {
        seed = (Math.imul(seed, 31) + (each.codePointAt(0) ?? 0)) >>> 0;
    }
    const hue = seed % 6;
    const blocks = Array.from({ length: 11 }, (_, at) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return { x: at * 32 - 16, height: 18 + (seed >>> 24) % 72, shade: (seed >>> 16) % 3 };
    });
    return (
        <svg class={`thumbnail drawn hue-${hue}`} viewBox="0 0 320 180" aria-hidden="true">
            <rect class="sky" width="320" height="180" />
            <circle class="sun" cx={250} cy={48} r={22} />
            {blocks.map(({ x, height, shade }) => <g key={x} class={`shade-${shade}`}>
                <rect x={x} y={180 - height} width="32" height={height} />
                <path class="top" d={`M${x} ${180 - height}l8 -8h32l-8 8z`} />
                <path class="side" d={`M${x + 32} ${180 - height}l8 -8v${height + 8}h-8z`} />
            </g>)}
            <text x="18" y="62">{letter}</text>
        </svg>
    );
}

export function Thumbnail({ place }: { place: Pick<PlaceCard, 'id' | 'title' | 'thumbnail'> }):
JSX.Element {
    return place.thumbnail !== null
        ? <img class="thumbnail" src={place.thumbnail} alt="" loading="lazy" width={320} height={180} />
        : <Drawn id={place.id} letter={[...place.title][0] ?? '?'} />;
}

export function liked(place: { votes_up: number; votes_down: number }): string {
    const votes = place.votes_up + place.votes_down;
    return votes === 0 ? '' : words.card.liked(place.votes_up / votes);
}

export function Card({ place }: { place: PlaceCard }): JSX.Element {
    const votes = liked(place);
    const players = usePlayers(place.id, place.players);
    return (
        <li class="card">
            <a href={`/place/${encodeURIComponent(place.id)}`}>
                <Thumbnail place={place} />
                <strong class="title">{place.title}</strong>
                <span class="soft">{words.card.by(place.creator ?? words.name)}</span>
                <span class="soft">
                    {players > 0
                        ? <span class="live">{words.card.players(players)}</span>
                        : words.card.nobody}
                    {votes !== '' && ` · ${votes}`}
                </span>
            </a>
        </li>
    );
}

// Cards keep their room while they load, so that nothing jumps.
export function Cards({ places }: { places: PlaceCard[] | null }): JSX.Element {
    return (
        <ul class="cards" aria-busy={places === null}>
            {places === null
                ? [0, 1, 2, 3].map((each) => <li key={each} class="card waiting" aria-hidden="true" />)
                : places.map((place) => <Card key={place.id} place={place} />)}
        </ul>
    );
}
