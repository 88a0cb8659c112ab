// The site around the game: finding places, and what belongs to them. One document; each page is a chunk
// of its own, fetched when somebody goes there.
import { render } from 'preact';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

import type { AccountPage } from './account.tsx';
import { Failure } from './api.ts';
import type { Session } from './api.ts';
import type { ClassPage } from './class.tsx';
import type { CreatePage } from './create.tsx';
import { Discover, Search } from './discover.tsx';
import type { ManagePage } from './manage.tsx';
import type { OperatorPage } from './operator/operator.tsx';
import { NotFound, Trouble } from './parts.tsx';
import type { PlacePage } from './place.tsx';
import { address, entry, go, keepInEntry, startRouting } from './route.ts';
import { readSession, session as current } from './session.ts';
import { Who } from './who.tsx';
import { words } from './words.ts';

// A page that is fetched first.
function Later<P extends object>({ load, props }: {
    load: () => Promise<ComponentType<P>>; props: P;
}): JSX.Element {
    const [Page, setPage] = useState<ComponentType<P> | null>(null);
    const [isLost, setLost] = useState(false);
    useEffect(() => {
        load().then((page) => setPage(() => page), () => void reloadIfNewer().then(() => setLost(true)));
    }, []);
    if (isLost) {
        return <Trouble failure={new Failure(0, 'unreachable', '')} again={() => location.reload()} />;
    }
    return Page === null ? <p role="status">{words.loading}</p> : <Page {...props} />;
}

// A file that is not there: the server may have pages of another version now. Once for an entry of the history, because a
// file that cannot be fetched for another reason would end in doing this for ever.
async function reloadIfNewer(): Promise<void> {
    const answers = await fetch('/healthz', { cache: 'no-store' }).then(() => true, () => false);
    if (answers && entry().reloaded !== true) {
        keepInEntry({ reloaded: true });
        location.reload();
    }
}

const loadAccount = async (): Promise<typeof AccountPage> => (await import('./account.tsx')).AccountPage;
const loadPlace = async (): Promise<typeof PlacePage> => (await import('./place.tsx')).PlacePage;

const loadClass = async (): Promise<typeof ClassPage> => (await import('./class.tsx')).ClassPage;
const loadCreate = async (): Promise<typeof CreatePage> => (await import('./create.tsx')).CreatePage;
const loadOperator = async (): Promise<typeof OperatorPage> =>
    (await import('./operator/operator.tsx')).OperatorPage;
const loadManage = async (): Promise<typeof ManagePage> => (await import('./manage.tsx')).ManagePage;

// A part of an address; one that is no valid text stays as it is, and names nothing.
function decode(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

function Page({ session }: { session: Session | null }): JSX.Element {
    const { path, query } = address.value;
    const place = /^\/place\/([^/]+)$/.exec(path)?.[1];
    if (place !== undefined) {
        const channel = new URLSearchParams(query).get('channel') === 'beta' ? 'beta' : '';
        return <Later key={path} load={loadPlace} props={{ id: decode(place), channel, session }} />;
    }
    const managed = /^\/create\/([^/]+)$/.exec(path)?.[1];
    if (managed !== undefined) {
        return <Later key={path} load={loadManage} props={{ id: decode(managed) }} />;
    }
    const operated = /^\/operat(?:e|or)(?:\/([^/]+))?$/.exec(path);
    if (operated !== null) {
        return <Later load={loadOperator} props={{ section: decode(operated[1] ?? ''), query, session }} />;
    }
    if (path === '/create') {
        return <Later key={path} load={loadCreate} props={{ session }} />;
    }
    if (path === '/account') {
        return <Later key={path + query} load={loadAccount} props={{ session, query }} />;
    }
    const school = /^\/class(?:\/([^/]+))?$/.exec(path);
    if (school !== null) {
        const id = school[1] === undefined ? null : decode(school[1]);
        const read = new URLSearchParams(query).get('read');
        return <Later key={path} load={loadClass} props={{ id, read, session }} />;
    }
    if (path === '/search') {
        return <Search query={query} />;
    }
    return path === '/' ? <Discover session={session} /> : <NotFound />;
}

// The class that the sheet of a page is for.
function sheetOf(path: string): string {
    const first = /^\/(place|create|account|class|operat)/.exec(path)?.[1] ?? 'discover';
    return `page-${first === 'operat' ? 'operator' : first}`;
}

const TYPING_MS = 200; // after the last letter the search begins

function SearchBox(): JSX.Element {
    const asked = address.value.path === '/search'
        ? new URLSearchParams(address.value.query).get('q') ?? '' : '';
    const [text, setText] = useState(asked);
    useEffect(() => setText(asked), [asked]);
    useEffect(() => {
        const wanted = text.trim();
        if (wanted === asked) {
            return undefined;
        }
        const timer = setTimeout(() => {
            const isSearch = address.value.path === '/search';
            go(wanted === '' ? '/' : `/search?q=${encodeURIComponent(wanted)}`, isSearch);
        }, TYPING_MS);
        return () => clearTimeout(timer);
    }, [text]);
    return (
        <form role="search" onSubmit={(event) => event.preventDefault()}>
            <input type="search" aria-label={words.search} placeholder={words.search} value={text}
                maxLength={100} onInput={(event) => setText(event.currentTarget.value)} />
        </form>
    );
}

function Site(): JSX.Element {
    const session = current.value;
    useEffect(() => void readSession(), []);
    useLayoutEffect(() => { // before the effects of the page, which may have a title of its own
        document.title = words.name;
    }, [address.value.path]);
    return (
        <>
            <a class="skip" href="#content">{words.skip}</a>
            <header class="bar">
                <a class="brand" href="/">{words.name}</a>
                <SearchBox />
                <a class="make" href="/create">{words.create.short}</a>
                <Who session={session} />
            </header>
            <main id="content" class={sheetOf(address.value.path)} tabIndex={-1}><Page session={session} /></main>
        </>
    );
}

startRouting();
const root = document.getElementById('site');
// What is there is for those without JavaScript. The answer to one of its forms stays: somebody was faster
// than this script, and nobody can show recovery codes again.
if (root !== null && root.querySelector('[data-answer]') === null) {
    root.replaceChildren();
    render(<Site />, root);
}
