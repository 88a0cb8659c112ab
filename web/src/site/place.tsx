// The page of a place: what it is, who made it, who plays it now, and the ways in.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Dialog, Icon } from '../ui/parts.tsx';
import { words as gameWords } from '../ui/words.ts';

import { Failure, get, send } from './api.ts';
import type { Session } from './api.ts';
import { DecisionNote } from './decision.tsx';
import { useLive, usePlayers } from './live.ts';
import type { LivePlace } from './live.ts';
import { renderMarkdown } from './markdown.ts';
import { Thumbnail, Trouble, liked, mayMake, messageOf, useLoaded } from './parts.tsx';
import './place.css';
import { go, signInPath } from './route.ts';
import { RoomDialog, Share } from './share.tsx';
import { followJob, stopJob } from './upload.ts';
import type { Sent } from './upload.ts';
import { words as siteWords } from './words.ts';
import { bytesText, words } from './words_place.ts';

interface Place {
    place_id: string;
    title: string;
    description: string;
    creator: { username: string; shown_name: string } | null;
    live: string | null;
    beta: string | null;
    draft?: boolean; // for those who may test it: is there one?
    pictures: number[];
    players: number;
    visits: number;
    votes_up: number;
    votes_down: number;
    player_max: number | null;
    cost: { tick_ms: number; players: number } | null;
    tags: string[];
    updated_at: string;
    visibility: 'private' | 'unlisted' | 'listed';
    rights: string[];
    waits_for_approval: boolean;
    removed: boolean;
    moderation?: { state: string; reason: string } | null; // for those who work on it
}

interface World {
    room_code: string;
    name: string;
    players: number;
    player_max: number;
}

interface Revision {
    revision_id: string;
    notes: string;
    created_at: string;
    bytes: number;
    live: boolean;
}

interface Revisions {
    revisions: Revision[];
    next: string | null;
}

interface Mine {
    vote: number;
    favourite: boolean;
    played: boolean;
}

const LIVE_REVISIONS = '/revisions?live=1&limit=20';
const VERSIONS_FIRST = 5;
const LIVE_MS = 5000; // how often the worlds are looked at, while somebody looks at the page

// How long one request takes there and back, in milliseconds: the second, on a connection that is open.
async function measurePing(): Promise<number> {
    const ask = async (): Promise<unknown> => (await fetch('/healthz', { cache: 'no-store' })).arrayBuffer();
    await ask();
    const began = performance.now();
    await ask();
    return performance.now() - began;
}

// The list is asked for again when the stream of live numbers says that it has changed. That stream has
// listed places alone: of others the list is looked at every few seconds.
function Worlds({ place }: { place: Place }): JSX.Element {
    const path = `/api/places/${encodeURIComponent(place.place_id)}/worlds?limit=50`;
    const list = useLoaded<{ worlds: World[] }>(path);
    const [ping, setPing] = useState<number | null>(null);
    const again = useRef(list.again);
    const isListed = place.visibility === 'listed';
    const live = useLive<LivePlace>(isListed ? 'places' : null)?.get(place.place_id);
    again.current = list.again;
    useEffect(() => again.current(), [live?.players, live?.worlds]);
    useEffect(() => {
        measurePing().then(setPing, () => setPing(null));
        const timer = setInterval(() => {
            if (!isListed && document.visibilityState === 'visible') {
                again.current();
            }
        }, LIVE_MS);
        return () => clearInterval(timer);
    }, [place.place_id, isListed]);
    const worlds = list.value?.worlds ?? [];
    return (
        <section>
            <h2>{words.worlds}</h2>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value === null && list.failure === null && <p role="status">{siteWords.loading}</p>}
            {worlds.length === 0
                ? list.value !== null && <p class="soft">{place.live === null ? words.notLive : words.noWorlds}</p>
                : <table class="worlds">
                    <thead><tr>
                        <th scope="col">{words.code}</th>
                        <th scope="col">{words.players}</th>
                        <th scope="col">{words.ping}</th>
                        <th scope="col"><span class="hidden">{words.join}</span></th>
                    </tr></thead>
                    <tbody>{worlds.map((world) => (
                        <tr key={world.room_code}>
                            <td>{world.name === '' ? world.room_code : `${world.name} (${world.room_code})`}</td>
                            <td>{words.room(world.players, world.player_max)}</td>
                            <td>{ping === null ? '–' : words.pingIs(ping)}</td>
                            <td><a class="button" href={`/play/${encodeURIComponent(world.room_code)}`}>
                                {words.join}</a></td>
                        </tr>
                    ))}</tbody>
                </table>}
        </section>
    );
}

// Vote and favourite; they change at once, and go back if the server says no.
function Opinion({ id, session }: { id: string; session: Session | null }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(id)}`;
    const hasAccount = session?.signed_in === true && session.is_guest !== true;
    const [mine, setMine] = useState<Mine>({ vote: 0, favourite: false, played: false });
    const [said, setSaid] = useState('');
    useEffect(() => {
        if (hasAccount) {
            get<Mine>(`${base}/vote`).then(setMine, () => {});
        }
    }, [base, hasAccount]);
    const change = async (wanted: Partial<Mine>, ask: () => Promise<Mine>): Promise<void> => {
        if (!hasAccount) {
            setSaid(words.needAccount);
            return;
        }
        const before = mine;
        setMine({ ...mine, ...wanted });
        try {
            setMine(await ask());
            setSaid('');
        } catch (cause) {
            setMine(before);
            setSaid(messageOf(cause));
        }
    };
    const vote = (value: number): Promise<void> => {
        const wanted = mine.vote === value ? 0 : value;
        return change({ vote: wanted }, () => send<Mine>('PUT', `${base}/vote`, { vote: wanted }));
    };
    const favour = (): Promise<void> => change({ favourite: !mine.favourite }, () =>
        send<Mine>(mine.favourite ? 'DELETE' : 'PUT', `${base}/favourite`, {}));
    return (
        <div class="opinion">
            <button type="button" class="button quiet" aria-pressed={mine.vote === 1}
                onClick={() => void vote(1)}>
                <Icon name="up" filled={mine.vote === 1} /> {words.up}</button>
            <button type="button" class="button quiet" aria-pressed={mine.vote === -1}
                aria-label={words.down} onClick={() => void vote(-1)}>
                <Icon name="down" filled={mine.vote === -1} /></button>
            <button type="button" class="button quiet" aria-pressed={mine.favourite}
                onClick={() => void favour()}>
                <Icon name="star" filled={mine.favourite} />
                {mine.favourite ? words.isFavourite : words.favourite}
            </button>
            <Said text={said} />
        </div>
    );
}

// Says what went wrong; who is not signed in is shown where to do that.
function Said({ text }: { text: string }): JSX.Element {
    return (
        <p class="soft" role="status">{text}{text === words.needAccount &&
            <> <a href={signInPath()}>{siteWords.signIn}</a></>}</p>
    );
}

interface OwnWorld {
    roomCode: string;
    placeId: string;
    isPrivate: boolean;
    createdAt: string;
}

// The newest private world of the place that one has: another one would use up what one may have.
async function ownWorld(id: string): Promise<string | undefined> {
    const { worlds } = await get<{ worlds: OwnWorld[] }>('/worlds?mine=true&limit=500');
    return worlds.filter((world) => world.placeId === id && world.isPrivate)
        .sort((a, b) => a.createdAt < b.createdAt ? 1 : -1)[0]?.roomCode;
}

// A world of one's own for friends; whoever has the link comes in.
function Friends({ id, session }: { id: string; session: Session | null }): JSX.Element {
    const [code, setCode] = useState('');
    const [said, setSaid] = useState('');
    const [isFull, setFull] = useState(false);
    const isBusy = said === words.making;
    const make = async (): Promise<void> => {
        if (session?.signed_in !== true) {
            setSaid(words.needAccount);
            return;
        }
        setSaid(words.making);
        setFull(false);
        try {
            setCode(await ownWorld(id) ?? (await send<{ room_code: string }>('POST', '/api/worlds',
                { place_id: id, private: true })).room_code);
            setSaid('');
        } catch (cause) {
            setFull(cause instanceof Failure && cause.code === 'too_many_worlds' && cause.status === 409);
            setSaid(messageOf(cause));
        }
    };
    return (
        <>
            <button type="button" class="button quiet" disabled={isBusy} onClick={() => void make()}>
                {words.privateWorld}</button>
            {isFull ? <p class="wrong" role="alert">{words.tooManyWorlds} <a href="/account#own-worlds">{words.yourWorlds}</a></p>
                : <Said text={said} />}
            {code !== '' && <RoomDialog code={code} close={() => setCode('')} />}
        </>
    );
}

// A place of one's own with the same files, for those who may read them.
function Fork({ place }: { place: Place }): JSX.Element {
    const [said, setSaid] = useState('');
    const [job, setJob] = useState<{ id: string; part: number } | null>(null);
    const left = useRef(new AbortController()); // who has gone elsewhere is not fetched back from there
    useEffect(() => () => left.current.abort(), []);
    const fork = async (): Promise<void> => {
        setSaid(words.forking);
        try {
            const sent = await send<Sent>('POST',
                `/api/places/${encodeURIComponent(place.place_id)}/fork`, {});
            setJob({ id: sent.job_id, part: 0 });
            const made = await followJob(sent.job_id, left.current.signal, (now) =>
                setJob({ id: sent.job_id, part: now.progress_pct / 100 }));
            setJob(null);
            if (left.current.signal.aborted) {
                return;
            }
            if (made.status === 'cancelled') {
                setSaid(words.forkStopped);
                return;
            }
            go(`/create/${encodeURIComponent(sent.place_id)}`);
        } catch (cause) {
            setJob(null);
            setSaid(messageOf(cause));
        }
    };
    return (
        <>
            <button type="button" class="button quiet" disabled={said === words.forking}
                onClick={() => void fork()}>{words.fork}</button>
            {job !== null && <button type="button" class="button quiet" onClick={() => stopJob(job.id)}>
                {siteWords.cancel}</button>}
            <Said text={said} />
            {job !== null && <progress max={1} value={job.part} aria-label={words.forking} />}
        </>
    );
}

// The thumbnail and the screenshots: one large, and a strip to choose from.
function Gallery({ place, base }: { place: Place; base: string }): JSX.Element {
    const [shown, setShown] = useState(0);
    const shots = place.pictures.filter((number) => number > 0);
    const cover = place.pictures.includes(0) ? `${base}/pictures/0` : null;
    const numbers = cover !== null || shots.length === 0 ? [0, ...shots] : shots;
    const chosen = numbers.includes(shown) ? shown : numbers[0] ?? 0;
    const picture = (number: number, isLarge: boolean): JSX.Element => number > 0
        ? <img src={`${base}/pictures/${number}`} {...(isLarge ? { class: 'large' } : { loading: 'lazy' })}
            alt={words.picture(numbers.indexOf(number) + 1, numbers.length)} />
        : <Thumbnail place={{ id: place.place_id, title: place.title, thumbnail: cover }} />;
    return (
        <div class="cover">
            {picture(chosen, true)}
            {numbers.length > 1 && <ul class="strip" aria-label={words.pictures}>{numbers.map((number, at) =>
                <li key={number}><button type="button" aria-pressed={number === chosen}
                    aria-label={words.picture(at + 1, numbers.length)}
                    onClick={() => setShown(number)}>{picture(number, false)}</button></li>)}
            </ul>}
        </div>
    );
}

// Those that are or were live, newest first: a few, and more on demand.
function Versions({ first, mayRead, base }: {
    first: Revisions | null; mayRead: boolean; base: string;
}): JSX.Element | null {
    const [rest, setRest] = useState<Revisions>({ revisions: [], next: null }); // what was asked for behind the first
    const [shown, setShown] = useState(VERSIONS_FIRST);
    const [said, setSaid] = useState('');
    const all = [...first?.revisions ?? [], ...rest.revisions];
    const next = rest.revisions.length > 0 ? rest.next : first?.next ?? null;
    if (all.length === 0) {
        return null;
    }
    const more = async (): Promise<void> => {
        if (shown < all.length) {
            setShown(all.length);
            return;
        }
        try {
            const answer = await get<Revisions>(`${base}${LIVE_REVISIONS}&after=${encodeURIComponent(next ?? '')}`);
            setRest({ revisions: [...rest.revisions, ...answer.revisions], next: answer.next });
            setShown(all.length + answer.revisions.length);
            setSaid('');
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    return (
        <section>
            <h2>{words.versions}</h2>
            <ul class="list">{all.slice(0, shown).map((revision) => (
                <li key={revision.revision_id} class="version">
                    <strong>{words.version(revision.revision_id)}</strong>
                    {revision.live && <span class="badge">{words.isLive}</span>}
                    <span class="soft"> · {siteWords.day(revision.created_at)} · {bytesText(revision.bytes)}</span>
                    <p>{revision.notes}</p>
                    {mayRead && <a download href={`${base}/package?revision=${
                        encodeURIComponent(revision.revision_id)}`}>{words.downloadFile}</a>}
                </li>
            ))}</ul>
            {(shown < all.length || next !== null) && <p><button type="button" class="button quiet"
                aria-label={words.moreVersions} onClick={() => void more()}>{siteWords.more}</button></p>}
            <p class="wrong" role="alert">{said}</p>
        </section>
    );
}

const REASONS = gameWords.people.reasons;

function Report({ id, close }: { id: string; close: (said: string) => void }): JSX.Element {
    const [reason, setReason] = useState('other');
    const [text, setText] = useState('');
    const [said, setSaid] = useState('');
    const [isBusy, setBusy] = useState(false);
    const report = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        setSaid('');
        try {
            await send('POST', '/api/reports', { place_id: id, reason, text });
            close(words.reported);
        } catch (cause) {
            setSaid(messageOf(cause));
            setBusy(false);
        }
    };
    return (
        <Dialog title={words.report} onClose={() => close('')}>
            <form class="form" onSubmit={(event) => void report(event)}>
                <label for="report-reason">{gameWords.people.reportReason}</label>
                <select id="report-reason" value={reason}
                    onChange={(event) => setReason(event.currentTarget.value)}>
                    {Object.entries(REASONS).map(([each, name]) =>
                        <option key={each} value={each}>{name}</option>)}
                </select>
                <label for="report-text">{words.reportText}</label>
                <textarea id="report-text" maxLength={500} value={text}
                    onInput={(event) => setText(event.currentTarget.value)} />
                <p class="wrong" role="alert">{said}{said === words.needAccount &&
                    <> <a href={signInPath()}>{siteWords.signIn}</a></>}</p>
                <button class="button" type="submit" disabled={isBusy}>{gameWords.people.reportSend}</button>
            </form>
        </Dialog>
    );
}

function Facts({ place, bytes }: { place: Place; bytes: number | null }): JSX.Element {
    const listed = usePlayers(place.place_id, place.players);
    const facts: [string, string][] = [
        [words.playing, siteWords.compact(place.visibility === 'listed' ? listed : place.players)],
        [words.visits, siteWords.compact(place.visits)],
        [words.updated, siteWords.day(place.updated_at)],
    ];
    if (place.player_max !== null) {
        facts.push([words.mostPlayers, words.upTo(place.player_max)]);
    }
    if (bytes !== null) {
        facts.push([words.download, words.atMost(bytes)]);
    }
    if (place.cost !== null) {
        facts.push([words.cost, words.costs(place.cost.tick_ms, place.cost.players)]);
    }
    return (
        <dl class="facts">
            {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
        </dl>
    );
}

function Ways({ place, channel, session }: {
    place: Place; channel: string; session: Session | null;
}): JSX.Element {
    const way = (to: string): string =>
        `/play?${new URLSearchParams({ place: place.place_id, ...(to === '' ? {} : { channel: to }) })}`;
    const isMaker = session !== null && mayMake(session);
    return (
        <>
            {place.live === null && channel === '' && <p>{words.notLive}</p>}
            <div class="ways">
                {(place.live !== null || channel !== '') &&
                    <a class="button play" href={way(channel)}>
                        {channel === '' ? words.play : words.playBeta}</a>}
                {place.beta !== null && channel === '' &&
                    <a class="button quiet" href={way('beta')}>{words.playBeta}</a>}
                {place.draft === true && <a class="button quiet" href={way('draft')}>{words.playDraft}</a>}
                {place.live !== null && <Friends id={place.place_id} session={session} />}
            </div>
            <Opinion id={place.place_id} session={session} />
            <div class="ways">
                <Share title={place.title} />
                {place.rights.includes('edit') &&
                    <a class="button quiet" href={`/create/${encodeURIComponent(place.place_id)}`}>
                        {words.manage}</a>}
                {isMaker && place.live !== null && place.rights.includes('read') && <Fork place={place} />}
            </div>
        </>
    );
}

export function PlacePage({ id, channel, session }: {
    id: string; channel: string; session: Session | null;
}): JSX.Element {
    const base = `/api/places/${encodeURIComponent(id)}`;
    const loaded = useLoaded<Place>(base);
    const revisions = useLoaded<Revisions>(`${base}${LIVE_REVISIONS}`).value;
    const [reports, setReports] = useState(false);
    const [said, setSaid] = useState('');
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
    const votes = liked(place);
    const live = revisions?.revisions.find((revision) => revision.live);
    const creator = place.creator;
    return (
        <article class="place">
            <Gallery place={place} base={base} />
            <div class="head">
                <h1>{place.title}</h1>
                <p class="soft">{creator === null ? siteWords.card.by(siteWords.name)
                    : <a href={`/search?creator=${encodeURIComponent(creator.username)}`}>
                        {siteWords.card.by(creator.shown_name)}</a>}{votes !== '' && ` · ${votes}`}</p>
                {(place.removed || place.moderation !== undefined) && <DecisionNote place={place} />}
                {!place.removed && <Ways place={place} channel={channel} session={session} />}
                {place.tags.length > 0 && <nav class="tags" aria-label={siteWords.discover.tags}>
                    {place.tags.map((tag) =>
                        <a key={tag} href={`/search?tag=${encodeURIComponent(tag)}`}>{tag}</a>)}
                </nav>}
            </div>
            <section>
                <h2>{words.about}</h2>
                <div class="about">{place.description.trim() === ''
                    ? <p class="soft">{words.noAbout}</p> : renderMarkdown(place.description)}</div>
                <Facts place={place} bytes={live?.bytes ?? null} />
            </section>
            {!place.removed && <Worlds place={place} />}
            <Versions key={id} first={revisions} mayRead={place.rights.includes('read')} base={base} />
            <p class="end"><button type="button" class="button quiet" onClick={() => setReports(true)}>
                {words.report}</button> <span role="status">{said}</span></p>
            {reports && <Report id={place.place_id} close={(text) => {
                setReports(false);
                setSaid(text);
            }} />}
        </article>
    );
}
