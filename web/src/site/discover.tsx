// What there is to play: rows of places, or what a search found.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Failure, get } from './api.ts';
import type { PlaceCard, PlaceList, Session } from './api.ts';
import { Cards, Trouble, fetchRest, messageOf, useLoaded } from './parts.tsx';
import { entry, keepInEntry } from './route.ts';
import { words } from './words.ts';

const COLLECTIONS_SHOWN = 8;

function Row({ title, path, hideEmpty = false, more }: {
    title: string; path: string; hideEmpty?: boolean; more?: string;
}): JSX.Element | null {
    const list = useLoaded<PlaceList>(path);
    if (hideEmpty && (list.failure !== null || list.value?.places.length === 0)) {
        return null;
    }
    return (
        <section class="row">
            <h2>{title}{more !== undefined && list.value?.next != null && <a class="more" href={more}>{words.more}</a>}</h2>
            {list.failure !== null
                ? <Trouble failure={list.failure} again={list.again} />
                : <Cards places={list.value?.places ?? null} />}
        </section>
    );
}

// Nobody has published anything: what to do first.
function Nothing(): JSX.Element {
    return (
        <div class="empty">
            <h2>{words.discover.empty}</h2>
            <p>{words.discover.emptyHint}</p>
            <p><a class="button" href="/create">{words.discover.make}</a></p>
        </div>
    );
}

function JoinByCode(): JSX.Element {
    const [code, setCode] = useState('');
    const [said, setSaid] = useState('');
    const join = async (event: Event): Promise<void> => {
        event.preventDefault();
        const wanted = code.replace(/[\s-]/g, '').toUpperCase();
        if (wanted === '') {
            setSaid(words.discover.codeNeeded);
            document.getElementById('room-code')?.focus();
            return;
        }
        try {
            await get(`/api/rooms/${encodeURIComponent(wanted)}`);
            location.assign(`/play/${encodeURIComponent(wanted)}`);
        } catch (cause) {
            setSaid(cause instanceof Failure && cause.status !== 404
                ? messageOf(cause) : words.discover.noRoom(wanted));
        }
    };
    return (
        <form class="code" onSubmit={(event) => void join(event)}>
            <label for="room-code">{words.discover.code}</label>
            <input id="room-code" value={code} autocomplete="off" autocapitalize="characters"
                spellcheck={false} maxLength={16} aria-describedby="room-said"
                aria-invalid={said !== ''}
                onInput={(event) => { setCode(event.currentTarget.value); setSaid(''); }} />
            <button class="button" type="submit">{words.discover.join}</button>
            <p id="room-said" class={said === '' ? 'soft' : 'wrong'} role="status">{said === '' ? words.discover.codeHint : said}</p>
        </form>
    );
}

function Tags(): JSX.Element | null {
    const tags = useLoaded<{ tags: { tag: string; places: number }[] }>('/api/tags').value;
    if (tags === null || tags.tags.length === 0) {
        return null;
    }
    return (
        <nav class="tags" aria-label={words.discover.tags}>
            {tags.tags.slice(0, 24).map(({ tag }) => (
                <a key={tag} href={`/search?tag=${encodeURIComponent(tag)}`}>{tag}</a>
            ))}
        </nav>
    );
}

// The operator's collections, each in a row of its own.
function Collections(): JSX.Element {
    const list = useLoaded<{ collections: { name: string; title: string }[] }>('/api/collections').value;
    const titleOf = ({ name, title }: { name: string; title: string }): string =>
        title !== '' ? title : name === 'featured' ? words.discover.featured : name;
    return (
        <>{(list?.collections ?? []).slice(0, COLLECTIONS_SHOWN).map((one) => (
            <Row key={one.name} title={titleOf(one)} hideEmpty
                path={`/api/places?sort=featured&collection=${encodeURIComponent(one.name)}&limit=12`} />
        ))}</>
    );
}

export function Discover({ session }: { session: Session | null }): JSX.Element {
    const popular = useLoaded<PlaceList>('/api/places?sort=popular&limit=12');
    const hasNone = popular.value?.places.length === 0;
    const hasAccount = session?.signed_in === true && session.is_guest !== true;
    return (
        <>
            <h1 class="hidden">{words.discover.title}</h1>
            <JoinByCode />
            <Tags />
            {hasNone && <Nothing />}
            <Collections />
            {session?.signed_in === true &&
                <Row title={words.discover.recent} path="/api/me/recent?limit=12" hideEmpty />}
            {hasAccount &&
                <Row title={words.discover.favourites} path="/api/me/favourites?limit=12" hideEmpty />}
            {!hasNone && <Row title={words.discover.popular} more="/search?sort=popular"
                path="/api/places?sort=popular&limit=12" />}
            <Row title={words.discover.newest} path="/api/places?sort=new&limit=12" hideEmpty
                more="/search?sort=new" />
        </>
    );
}

// --- search ----------------------------------------------------------------------------------------

function listPath(query: string, after: string | null): string {
    const asked = new URLSearchParams(query);
    const wanted = new URLSearchParams({ limit: '24' });
    for (const name of ['q', 'tag', 'creator', 'sort']) {
        const value = asked.get(name);
        if (value !== null && value !== '') {
            wanted.set(name, value);
        }
    }
    if (after !== null) {
        wanted.set('after', after);
    }
    return `/api/places?${wanted}`;
}

// The pages after the first are kept per query, so that coming back shows all that was there. How many they
// were is kept with the entry of the history: after a game, which is another document, they are fetched again.
const pages = new Map<string, PlaceList[]>();
export function Search({ query }: { query: string }): JSX.Element {
    const first = useLoaded<PlaceList>(listPath(query, null));
    const [, setCount] = useState(0);
    const [trouble, setTrouble] = useState<Failure | null>(null);
    const again = (): void => setCount((count) => count + 1);
    useEffect(() => setTrouble(null), [query]);
    useEffect(() => {
        const ended = new AbortController();
        const shown = entry().pages ?? 0;
        if (first.value !== null && shown > 0 && !pages.has(query)) {
            fetchRest(first.value, shown, (next) => listPath(query, next), ended.signal).then((rest) => {
                pages.set(query, rest);
                again();
            }, () => {}); // the button is still there
        }
        return () => ended.abort();
    }, [query, first.value === null]);
    const rest = pages.get(query) ?? [];
    const next = rest.length > 0 ? rest[rest.length - 1]?.next ?? null : first.value?.next ?? null;
    const more = async (): Promise<void> => {
        try {
            pages.set(query, [...rest, await get<PlaceList>(listPath(query, next))]);
            keepInEntry({ pages: rest.length + 1 });
            again();
        } catch (cause) {
            setTrouble(cause instanceof Failure ? cause : null);
        }
    };
    const asked = new URLSearchParams(query);
    const text = asked.get('q') ?? asked.get('tag') ?? asked.get('creator') ?? '';
    const places: PlaceCard[] | null = first.value === null ? null
        : [first.value, ...rest].flatMap((page) => page.places);
    const count = places?.length ?? 0;
    const heading = text === '' ? words.discover.allPlaces : places === null ? words.loading
        : words.discover.found(count, text, next === null);
    useEffect(() => {
        document.title = `${text === '' ? words.discover.allPlaces : text} · ${words.name}`;
    }, [text]);
    return (
        <section class="row">
            <h1>{heading}</h1>
            <p class="hidden" role="status">{places === null ? words.loading : heading}</p>
            {places !== null && count === 0 && (text === '' ? <Nothing />
                : <p class="soft">{words.discover.foundHint}</p>)}
            {first.failure !== null
                ? <Trouble failure={first.failure} again={first.again} />
                : <Cards places={places} />}
            {trouble !== null && <Trouble failure={trouble} again={() => void more()} />}
            {next !== null && <button type="button" class="button quiet" onClick={() => void more()}>
                {words.more}</button>}
        </section>
    );
}
