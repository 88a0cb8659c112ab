// A class as its teacher sees it: whether it runs, its places, what is handed out, pupils, rules, other
// teachers, and its end.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { get, send } from './api.ts';
import { Question, Saying, messageOf, nameOf, pathOf, playAddress, useAction, usePlaces } from './class_parts.tsx';
import type { ChatRule, ClassPeople, ClassPlace, Said, SchoolClass } from './class_parts.tsx';
import { Pupils } from './class_people.tsx';
import { Thumbnail, Trouble, useLoaded } from './parts.tsx';
import type { Loaded } from './parts.tsx';
import { go } from './route.ts';
import { words } from './words_class.ts';

const HANDOUT_MS = 400;

interface Handout {
    handout: string;
    state: 'running' | 'stopping' | 'done' | 'failed' | 'cancelled';
    title: string;
    total: number;
    given: number;
    had: number;
    failed: number;
    reason: string | null;
}

function State({ one, again }: { one: ClassPeople; again: () => void }): JSX.Element {
    const { said, busy, act } = useAction();
    const change = (): void => act(async () => {
        await send<SchoolClass>('POST', `${pathOf(one.class_id)}/${one.paused ? 'resume' : 'pause'}`);
        again();
        return '';
    });
    return (
        <div class={one.paused ? 'notice paused' : 'notice'}>
            <p role="status"><span class={one.paused ? 'state paused' : 'state'}>
                {one.paused ? words.paused : words.running}</span> {one.paused ? words.isPaused : words.isRunning}</p>
            <button type="button" class={one.paused ? 'button' : 'button quiet'} disabled={busy} onClick={change}
                {...(one.paused ? {} : { title: words.pauseHint })}>{one.paused ? words.resume : words.pause}</button>
            <Saying said={said} />
        </div>
    );
}

function GalleryCard({ place, classId, paused }: {
    place: ClassPlace; classId: string; paused: boolean;
}): JSX.Element {
    const who = nameOf(place);
    return (
        <li class="work">
            <Thumbnail place={{ id: place.place_id, title: place.title, thumbnail: place.thumbnail }} />
            <strong class="title">{place.title}</strong>
            <span class="soft">{words.by(who)}</span>
            <span class="soft">{place.players > 0 ? <span class="live">{words.plays(place.players)}</span>
                : place.live === null ? words.notLive : words.nobody}</span>
            <div class="ways">
                {place.live !== null && !paused && <a class="button" href={playAddress(place)}
                    aria-label={words.playNamed(place.title, who)}>{words.play}</a>}
                {place.draft && <a class="button quiet" aria-label={words.readNamed(place.title, who)}
                    href={`/class/${encodeURIComponent(classId)}?${new URLSearchParams({ read: place.place_id })}`}>
                    {words.read}</a>}
            </div>
        </li>
    );
}

function Gallery({ one, list }: {
    one: ClassPeople; list: Loaded<ClassPlace[]>;
}): JSX.Element {
    const places = list.value ?? [];
    return (
        <section>
            <h2>{words.places}</h2>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value !== null && places.length === 0 && <p>{words.noPlaces}</p>}
            <ul class="cards">{places.map((place) =>
                <GalleryCard key={place.place_id} place={place} classId={one.class_id} paused={one.paused} />)}</ul>
        </section>
    );
}

function outcome(job: Handout): Said {
    if (job.state === 'cancelled') {
        return { ok: true, text: words.handStopped(job.given + job.had, job.total) };
    }
    if (job.state === 'failed' || job.failed > 0) {
        return { ok: false, text: job.failed > 0 ? words.handFailed(job.failed, job.reason ?? '') : job.reason ?? '' };
    }
    return { ok: true, text: words.handed(job.given, job.had) };
}

function HandOut({ one, changed }: { one: ClassPeople; changed: () => void }): JSX.Element {
    const base = pathOf(one.class_id);
    const mine = useLoaded<{ places: { place_id: string; title: string; trashed_at: string | null }[] }>(
        '/api/me/places?limit=100');
    const before = useLoaded<{ handouts: Handout[] }>(`${base}/handouts`);
    const [title, setTitle] = useState('');
    const [from, setFrom] = useState('template:obby');
    const [job, setJob] = useState<Handout | null>(null);
    const [said, setSaid] = useState<Said>({ ok: true, text: '' });
    const follow = async (begun: Handout): Promise<void> => {
        let now = begun;
        while (now.state === 'running' || now.state === 'stopping') {
            setJob(now);
            await new Promise((done) => setTimeout(done, HANDOUT_MS));
            now = await get<Handout>(`${base}/handouts/${encodeURIComponent(begun.handout)}`);
        }
        setJob(null);
        setSaid(outcome(now));
        before.again();
        changed();
    };
    const followSafely = async (begin: () => Promise<Handout>): Promise<void> => {
        try {
            setSaid({ ok: true, text: '' });
            await follow(await begin());
        } catch (cause) {
            setJob(null);
            setSaid({ ok: false, text: messageOf(cause) });
        }
    };
    // One that was begun before this page was opened.
    const running = before.value?.handouts.find((each) => each.state === 'running' || each.state === 'stopping');
    useEffect(() => {
        if (running !== undefined && job === null) {
            void followSafely(() => Promise.resolve(running));
        }
    }, [running?.handout]);
    const stop = (): void => {
        if (job !== null) {
            send('DELETE', `${base}/handouts/${encodeURIComponent(job.handout)}`).catch((cause: unknown) =>
                setSaid({ ok: false, text: messageOf(cause) }));
        }
    };
    const give = async (event: Event): Promise<void> => {
        event.preventDefault();
        const [kind, name] = [from.slice(0, from.indexOf(':')), from.slice(from.indexOf(':') + 1)];
        await followSafely(() => send<Handout>('POST', `${base}/handout`,
            { title: title.trim(), [kind === 'template' ? 'template' : 'place_id']: name }));
    };
    const places = (mine.value?.places ?? []).filter((place) => place.trashed_at === null);
    const isEmpty = one.pupils.length === 0;
    return (
        <section>
            <h2>{words.handOut}</h2>
            <p class="soft">{isEmpty ? words.noPupils : words.handOutHint}</p>
            <form class="form" onSubmit={(event) => void give(event)}>
                <label for="hand-title">{words.handTitle}</label>
                <input id="hand-title" required maxLength={60} value={title} disabled={isEmpty} autoComplete="off"
                    aria-invalid={!said.ok} aria-describedby="hand-said"
                    onInput={(event) => setTitle(event.currentTarget.value)} />
                <label for="hand-from">{words.handFrom}</label>
                <select id="hand-from" value={from} disabled={isEmpty}
                    onChange={(event) => setFrom(event.currentTarget.value)}>
                    <optgroup label={words.templates}>{Object.entries(words.template).map(([name, text]) =>
                        <option key={name} value={`template:${name}`}>{text}</option>)}</optgroup>
                    {places.length > 0 && <optgroup label={words.ownPlaces}>{places.map((place) =>
                        <option key={place.place_id} value={`place:${place.place_id}`}>{place.title}</option>)}
                    </optgroup>}
                </select>
                <button class="button" type="submit" disabled={isEmpty || job !== null}>{words.give}</button>
                {job !== null && <>
                    <progress aria-label={words.giving} max={Math.max(job.total, 1)} value={job.given + job.had} />
                    <p role="status">{job.state === 'stopping' ? words.handStopping : words.given(job.given + job.had, job.total)}</p>
                    <button class="button quiet" type="button" disabled={job.state === 'stopping'} onClick={stop}>{words.handStop}</button>
                </>}
                <Saying id="hand-said" said={said} />
            </form>
            {(before.value?.handouts ?? []).length > 0 && <>
                <h3>{words.before}</h3>
                <ul class="simple">{before.value?.handouts.map((each) => <li key={each.handout}>{each.title}
                    <span class="soft"> · {words.given(each.given + each.had, each.total)}</span></li>)}</ul>
            </>}
        </section>
    );
}

function Rules({ one, again }: { one: ClassPeople; again: () => void }): JSX.Element {
    const { said, act } = useAction();
    const base = pathOf(one.class_id);
    const holds = { chat: one.chat, names: one.public_names };
    const [shown, setShown] = useState(holds);
    useEffect(() => setShown(holds), [one.chat, one.public_names]);
    const set = (path: string, body: object, wanted: typeof holds): void => act(async () => {
        setShown(wanted);
        try {
            await send('PUT', `${base}/${path}`, body);
        } catch (cause) {
            setShown(holds); // it stays as it was
            throw cause;
        }
        again();
        return words.saved;
    });
    return (
        <section>
            <h2>{words.rules}</h2>
            <div class="form">
                <label for="chat-rule">{words.chatRule}</label>
                <select id="chat-rule" value={shown.chat} aria-describedby="chat-hint"
                    onChange={(event) => set('chat', { rule: event.currentTarget.value },
                        { ...shown, chat: event.currentTarget.value as ChatRule })}>
                    {Object.entries(words.chat).map(([rule, text]) =>
                        <option key={rule} value={rule}>{text}</option>)}
                </select>
                <p id="chat-hint" class="soft">{words.chatHint}</p>
                <label class="check"><input type="checkbox" checked={shown.names}
                    aria-describedby="names-rule"
                    onChange={(event) => set('names', { public: event.currentTarget.checked },
                        { ...shown, names: event.currentTarget.checked })} />
                {words.publicNames}</label>
                <p id="names-rule" class="soft">{words.namesRule}</p>
                <Saying said={said} />
            </div>
        </section>
    );
}

function Teachers({ one, me, again }: { one: ClassPeople; me: string; again: () => void }): JSX.Element {
    const { said, busy, act } = useAction();
    const [name, setName] = useState('');
    const at = (account: string): string => `${pathOf(one.class_id)}/teachers/${encodeURIComponent(account)}`;
    const add = (event: Event): void => {
        event.preventDefault();
        act(async () => {
            await send('PUT', at(name.trim()));
            setName('');
            again();
            return words.saved;
        });
    };
    const remove = (account: string): void => act(async () => {
        await send('DELETE', at(account));
        if (account === me) {
            go('/class');
        } else {
            again();
        }
        return words.saved;
    });
    return (
        <section>
            <h2>{words.teachers}</h2>
            <p class="soft">{words.teachersHint}</p>
            <ul class="simple">{one.teachers.map((teacher) => (
                <li key={teacher.username} class="inline">
                    <span>{nameOf(teacher)}{teacher.username === me && ` (${words.you})`}</span>
                    {one.teachers.length > 1 && <button type="button" class="button quiet" disabled={busy}
                        aria-label={words.removeOf(nameOf(teacher))}
                        onClick={() => remove(teacher.username ?? '')}>{words.remove}</button>}
                </li>
            ))}</ul>
            <form class="form" onSubmit={add}>
                <label for="teacher">{words.addTeacher}</label>
                <input id="teacher" required maxLength={32} value={name} autoComplete="off" spellcheck={false}
                    aria-invalid={!said.ok} aria-describedby="teacher-said"
                    onInput={(event) => setName(event.currentTarget.value)} />
                <Saying id="teacher-said" said={said} />
                <button class="button" type="submit" disabled={busy}>{words.addIt}</button>
            </form>
        </section>
    );
}

function End({ one }: { one: ClassPeople }): JSX.Element {
    const { said, busy, act } = useAction();
    const [asks, setAsks] = useState(false);
    const end = (accounts: 'keep' | 'delete'): void => act(async () => {
        setAsks(false);
        await send('DELETE', `${pathOf(one.class_id)}?accounts=${accounts}`);
        go('/class');
        return '';
    });
    return (
        <section>
            <h2>{words.end}</h2>
            <p class="soft wide">{words.endHint}</p>
            <button type="button" class="button danger" disabled={busy} onClick={() => setAsks(true)}>
                {words.end}</button>
            <Saying said={said} />
            {asks && <Question text={words.endSure(one.name)} onCancel={() => setAsks(false)}>
                <button type="button" class="button" onClick={() => end('keep')}>{words.keepAccounts}</button>
                <button type="button" class="button danger" onClick={() => end('delete')}>
                    {words.deleteAccounts}</button>
            </Question>}
        </section>
    );
}

export function TeacherView({ one, me, again }: {
    one: ClassPeople; me: string; again: () => void;
}): JSX.Element {
    const list = usePlaces(one.class_id);
    // Its key keeps it the same part at either place: the codes that it shows are shown once.
    const isEmpty = one.pupils.length === 0;
    // What to do first comes first, and stays there until the codes are taken: they would be out of sight below.
    const [isFirst, setFirst] = useState(isEmpty);
    const pupils = <Pupils key="pupils" one={one} again={() => { again(); list.again(); }} taken={() => setFirst(false)} />;
    return (
        <>
            <p><a class="back" href="/class">{words.toClasses}</a></p>
            <h1>{one.name}</h1>
            <p class="soft">{words.count(one.pupils.length, list.value?.length ?? 0)}</p>
            {(isEmpty || isFirst) && pupils}
            {!isEmpty && <State one={one} again={again} />}
            {!isEmpty && <Gallery one={one} list={list} />}
            <div class="two">
                <HandOut one={one} changed={list.again} />
                <Rules one={one} again={again} />
            </div>
            {!isEmpty && !isFirst && pupils}
            <div class="two">
                <Teachers one={one} me={me} again={again} />
                <End one={one} />
            </div>
        </>
    );
}
