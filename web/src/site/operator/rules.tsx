// What holds on this server: settings, lists of words and phrases, invitations, featured collections.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Dialog } from '../../ui/parts.tsx';

import { Failure, get, send } from '../api.ts';
import { Copied, LoopbackNote } from '../forms.tsx';
import type { PlaceCard, PlaceList } from '../api.ts';
import { Trouble, useLoaded } from '../parts.tsx';
import { words } from '../words_operator.ts';

import { Outcome, reasonOf, useActing } from './parts.tsx';

// --- settings --------------------------------------------------------------------------------------

interface Settings {
    about: { name: string; values: string[]; help: string }[];
    [name: string]: unknown;
}

interface Hidden {
    count: number;
    hasMore: boolean;
}

function SettingsForm(): JSX.Element {
    const loaded = useLoaded<Settings>('/admin/settings');
    const [settings, setSettings] = useState<Settings | null>(null);
    const acting = useActing();
    useEffect(() => setSettings(loaded.value), [loaded.value]);
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    const [hides, setHides] = useState<Hidden | null>(null); // asked about: places that would be hidden
    const change = (name: string, value: string): void => void acting.run(async () => {
        setSettings(await send<Settings>('PUT', '/admin/settings', { [name]: value }).catch((cause: unknown) => {
            throw cause instanceof Failure && cause.code === 'no_phrases' ? new Error(words.rules.noPhrases) : cause;
        }));
        return words.rules.saved(words.rules.names[name] ?? name, words.rules.values[value] ?? value);
    });
    // Where it takes places off the lists, it asks first.
    const choose = (name: string, value: string): void => {
        setHides(null);
        if (name !== 'approve_listing' || value !== 'yes') {
            change(name, value);
            return;
        }
        void acting.run(async () => {
            const waiting = await get<{ approvals: object[]; next: string | null }>('/admin/approvals?limit=100');
            if (waiting.approvals.length === 0) {
                change(name, value);
            } else {
                setHides({ count: waiting.approvals.length, hasMore: waiting.next !== null });
            }
            return '';
        });
    };
    return (
        <section>
            <p class="soft">{words.rules.now}</p>
            <Outcome said={acting.said} />
            {(settings?.about ?? []).map(({ name, values, help }) => (
                <div key={name} class="form setting">
                    <label for={`setting-${name}`}>{words.rules.names[name] ?? name}</label>
                    <select id={`setting-${name}`} value={String(settings?.[name] ?? '')} aria-describedby={`help-${name}`}
                        onChange={(event) => choose(name, event.currentTarget.value)}>
                        {values.map((value) => <option key={value} value={value}>
                            {words.rules.values[value] ?? value}</option>)}
                    </select>
                    <p id={`help-${name}`} class="soft">{help} <code>{name}</code></p>
                </div>
            ))}
            {hides !== null && <Dialog title={words.rules.approveTitle} onClose={() => setHides(null)}>
                <p class="about">{words.rules.approveText(hides.count, hides.hasMore)}</p>
                <div class="ways">
                    <button type="button" class="button danger" onClick={() => {
                        setHides(null);
                        change('approve_listing', 'yes');
                    }}>{words.rules.approveNow}</button>
                    <button type="button" class="button quiet" onClick={() => setHides(null)}>{words.cancel}</button>
                </div>
            </Dialog>}
        </section>
    );
}

async function sendText(path: string, text: string): Promise<void> {
    const answer = await fetch(path, { method: 'PUT', body: text,
        headers: { 'Content-Type': 'text/plain', 'X-Sandlot': '1' } });
    if (!answer.ok) {
        const body = await answer.json().catch(() => ({})) as { error?: { code?: string; message?: string } };
        throw new Failure(answer.status, body.error?.code ?? '', body.error?.message ?? String(answer.status),
            Number(answer.headers.get('Retry-After') ?? 0));
    }
    await answer.arrayBuffer(); // until it is read, the connection is taken
}

function ListForm({ name, title, hint, label }: {
    name: 'words' | 'phrases'; title: string; hint: string; label: string;
}): JSX.Element {
    const [text, setText] = useState<string | null>(null);
    const acting = useActing();
    useEffect(() => {
        void acting.run(async () => {
            const answer = await fetch(`/admin/${name}`);
            if (!answer.ok) {
                throw new Failure(answer.status, '', String(answer.status));
            }
            setText(await answer.text());
            return '';
        });
    }, [name]);
    const save = (event: Event): void => {
        event.preventDefault();
        void acting.run(async () => {
            await sendText(`/admin/${name}`, text ?? '');
            return words.rules.savedList;
        });
    };
    return (
        <form class="form" onSubmit={save}>
            <h2><label for={name}>{title}</label></h2>
            <p id={`${name}-hint`} class="soft">{hint}</p>
            <textarea id={name} rows={8} value={text ?? ''} disabled={text === null} spellcheck={false}
                aria-describedby={`${name}-hint`} onInput={(event) => setText(event.currentTarget.value)} />
            <Outcome said={acting.said} />
            <button class="button" type="submit" disabled={text === null}>{label}</button>
        </form>
    );
}

export function RulesSection(): JSX.Element {
    return (
        <>
            <SettingsForm />
            <div class="two">
                <ListForm name="words" title={words.rules.words} hint={words.rules.wordsHint} label={words.rules.saveWords} />
                <ListForm name="phrases" title={words.rules.phrases} hint={words.rules.phrasesHint} label={words.rules.savePhrases} />
            </div>
        </>
    );
}

// --- invitations -----------------------------------------------------------------------------------

export function InvitationsSection(): JSX.Element {
    const [role, setRole] = useState('player');
    const [hours, setHours] = useState('168');
    const [link, setLink] = useState('');
    const acting = useActing();
    const make = (event: Event): void => {
        event.preventDefault();
        void acting.run(async () => {
            const body = { role, expires_h: Number(hours) };
            setLink((await send<{ link: string }>('POST', '/api/invitations', body)).link);
            return words.invitations.made;
        });
    };
    return (
        <form class="form" onSubmit={make}>
            <p>{words.invitations.text}</p>
            <label for="role">{words.invitations.role}</label>
            <select id="role" value={role} onChange={(event) => setRole(event.currentTarget.value)}>
                {Object.entries(words.invitations.roles).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
            </select>
            <label for="hours">{words.invitations.hours}</label>
            <select id="hours" value={hours} onChange={(event) => setHours(event.currentTarget.value)}>
                {Object.entries(words.invitations.durations).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
            </select>
            <button class="button" type="submit">{words.invitations.make}</button>
            <Outcome said={acting.said} />
            {link !== '' && <LoopbackNote />}
            {link !== '' && <Copied label={words.invitations.link} text={link} rows={3} />}
        </form>
    );
}

// --- featured collections --------------------------------------------------------------------------

interface Collection {
    name: string;
    title: string;
    places: number;
}

function AddPlace({ add, has }: { add: (place: PlaceCard) => void; has: (id: string) => boolean }): JSX.Element {
    const [text, setText] = useState('');
    const [found, setFound] = useState<PlaceCard[] | null>(null);
    useEffect(() => {
        const ended = new AbortController();
        const query = new URLSearchParams({ limit: '12', ...(text.trim() === '' ? { sort: 'popular' } : { q: text.trim() }) });
        const timer = setTimeout(() => {
            get<PlaceList>(`/api/places?${query}`, ended.signal).then(({ places }) => setFound(places), () => {});
        }, 200);
        return () => {
            clearTimeout(timer);
            ended.abort();
        };
    }, [text]);
    const fitting = found?.filter((place) => !has(place.id)) ?? [];
    return (
        <div class="form">
            <label for="find-place">{words.featured.find}</label>
            <input id="find-place" type="search" value={text} maxLength={100} onInput={(event) => setText(event.currentTarget.value)} />
            {found !== null && fitting.length === 0 && <p class="soft" role="status">{words.featured.nothing}</p>}
            <ul class="list">{fitting.map((place) => (
                <li key={place.id} class="inline">
                    <button type="button" class="button quiet" aria-label={words.featured.add(place.title)} onClick={() => add(place)}>
                        {words.featured.plus}</button>
                    <span>{place.title}</span>
                </li>
            ))}</ul>
        </div>
    );
}

function EditCollection({ name, before, saved }: { name: string; before: string; saved: () => void }): JSX.Element {
    const [title, setTitle] = useState(before);
    const [places, setPlaces] = useState<{ id: string; title: string }[]>([]);
    const acting = useActing();
    useEffect(() => {
        get<PlaceList>(`/api/places?sort=featured&collection=${encodeURIComponent(name)}&limit=100`)
            .then((list) => setPlaces(list.places), () => setPlaces([]));
    }, [name]);
    const move = (at: number, to: number): void => {
        const moved = [...places];
        const [one] = moved.splice(at, 1);
        if (one !== undefined) {
            moved.splice(to, 0, one);
            setPlaces(moved);
        }
    };
    const save = (event: Event): void => {
        event.preventDefault();
        void acting.run(async () => {
            await send('PUT', `/admin/collections/${encodeURIComponent(name)}`, { title, places: places.map(({ id }) => id) });
            saved();
            return words.featured.saved;
        });
    };
    return (
        <div class="two">
            <form class="form" onSubmit={save}>
                <h2>{name}</h2>
                <label for="collection-title">{words.featured.title}</label>
                <input id="collection-title" value={title} maxLength={60} onInput={(event) => setTitle(event.currentTarget.value)} />
                {places.length === 0 && <p class="soft">{words.featured.empty}</p>}
                <ol class="list">{places.map((place, at) => (
                    <li key={place.id} class="inline">
                        <span class="grow">{place.title}</span>
                        <button type="button" class="button quiet" disabled={at === 0} aria-label={words.featured.up(place.title)}
                            onClick={() => move(at, at - 1)}>↑</button>
                        <button type="button" class="button quiet" disabled={at === places.length - 1}
                            aria-label={words.featured.down(place.title)} onClick={() => move(at, at + 1)}>↓</button>
                        <button type="button" class="button quiet" aria-label={words.featured.take(place.title)}
                            onClick={() => setPlaces(places.filter((one) => one.id !== place.id))}>✕</button>
                    </li>
                ))}</ol>
                <button class="button" type="submit">{words.featured.save}</button>
                <Outcome said={acting.said} />
            </form>
            <AddPlace add={(place) => setPlaces([...places, place])} has={(id) => places.some((one) => one.id === id)} />
        </div>
    );
}

export function FeaturedSection(): JSX.Element {
    const list = useLoaded<{ collections: Collection[] }>('/api/collections');
    const [edited, setEdited] = useState<{ name: string; title: string } | null>(null);
    const [name, setName] = useState('');
    const [wrong, setWrong] = useState('');
    const collections = list.value?.collections ?? [];
    const make = (event: Event): void => {
        event.preventDefault();
        try {
            if (!/^[a-z0-9-]{1,32}$/.test(name)) {
                throw new Error(words.featured.name);
            }
            setEdited({ name, title: '' });
            setName('');
            setWrong('');
        } catch (cause) {
            setWrong(reasonOf(cause));
        }
    };
    return (
        <>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value !== null && collections.length === 0 && edited === null && <p>{words.featured.none}</p>}
            <ul class="list">{collections.map((one) => (
                <li key={one.name} class="inline">
                    <strong>{one.title === '' ? one.name : one.title}</strong>
                    <span class="soft">{words.featured.places(one.places)}</span>
                    <button type="button" class="button quiet" onClick={() => setEdited(one)}>{words.featured.edit} {one.name}</button>
                </li>
            ))}</ul>
            <form class="inline" onSubmit={make}>
                <label for="collection">{words.featured.name}</label>
                <input id="collection" value={name} maxLength={32} autocomplete="off" aria-invalid={wrong !== ''}
                    aria-describedby="collection-wrong" onInput={(event) => setName(event.currentTarget.value)} />
                <button class="button" type="submit">{words.featured.make}</button>
                <p id="collection-wrong" class="wrong" role="alert">{wrong}</p>
            </form>
            {edited !== null && <EditCollection key={edited.name} name={edited.name} before={edited.title} saved={list.again} />}
        </>
    );
}
