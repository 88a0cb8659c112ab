// People: find them, their sign-ins and roles, a reset link, what they may say, bans and mutes.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { send } from '../api.ts';
import { Copied } from '../forms.tsx';
import { More, Trouble, useLoaded, useRest } from '../parts.tsx';
import { go } from '../route.ts';
import { words as siteWords } from '../words.ts';
import { words } from '../words_operator.ts';

import { AskOnce, Outcome, PersonLink, Table, banBody, useActing } from './parts.tsx';
import type { Acting } from './parts.tsx';

interface Person {
    account: string;
    username: string | null;
    shown_name: string;
    guest: boolean;
    roles: string[];
    created: string;
    last_sign_in: string;
    banned: boolean;
    muted: boolean;
}

interface SignIn {
    kind: string;
    token_name: string | null;
    since: string;
    last_used: string;
    expires: string;
    world_id: string | null;
}

interface Ban {
    account: string;
    name: string | null;
    world_id: string | null;
    until: string | null;
    reason: string;
    by: string | null;
    by_name: string | null;
}

// --- finding ---------------------------------------------------------------------------------------

function Found({ text }: { text: string }): JSX.Element {
    const path = `/admin/users?${new URLSearchParams({ limit: '50', q: text })}`;
    const list = useLoaded<{ users: Person[]; next: string | null }>(path);
    const rest = useRest(path, list.value, 'after');
    const people = [list.value, ...rest.pages].flatMap((page) => page?.users ?? []);
    if (list.failure !== null) {
        return <Trouble failure={list.failure} again={list.again} />;
    }
    if (list.value !== null && people.length === 0 && !rest.hasMore) {
        return <div role="status"><p>{words.people.none}</p><p class="soft">{words.people.noneHint}</p></div>;
    }
    return (
        <>
            <Table label={words.sections.people} head={[words.people.name, words.people.roles, words.people.seen]}>
                {people.map((one) => (
                    <tr key={one.account}>
                        <th scope="row"><PersonLink account={one.username ?? one.account}>
                            {one.username ?? one.account}</PersonLink>
                        {one.shown_name !== one.username && <span class="soft shown">{one.shown_name}</span>}</th>
                        <td>{one.roles.length === 0 ? '–' : one.roles.join(', ')}</td>
                        <td>{words.time(one.last_sign_in)}</td>
                    </tr>
                ))}
            </Table>
            <More rest={rest} />
        </>
    );
}

// --- one person ------------------------------------------------------------------------------------

function SignIns({ account }: { account: string }): JSX.Element {
    const list = useLoaded<{ sessions: SignIn[] }>(`/admin/sessions?account=${encodeURIComponent(account)}`);
    const sessions = list.value?.sessions ?? [];
    return (
        <section>
            <h2>{words.people.signIns}</h2>
            {list.value !== null && sessions.length === 0 && <p class="soft">{words.people.noSignIns}</p>}
            {sessions.length > 0 &&
                <Table label={words.people.signIns} head={[words.people.kind, words.people.since, words.people.used,
                    words.people.expires, words.people.world]}>
                    {sessions.map((one, at) => (
                        <tr key={at}>
                            <td>{words.people.kinds[one.kind] ?? one.kind} {one.token_name ?? ''}</td>
                            <td>{words.time(one.since)}</td>
                            <td>{words.time(one.last_used)}</td>
                            <td>{words.time(one.expires)}</td>
                            <td>{one.world_id ?? '–'}</td>
                        </tr>
                    ))}
                </Table>}
        </section>
    );
}

function Roles({ person, acting, again }: { person: Person; acting: Acting; again: () => void }): JSX.Element {
    const [roles, setRoles] = useState(person.roles);
    useEffect(() => setRoles(person.roles), [person.roles.join(' ')]);
    const name = person.username ?? '';
    return (
        <fieldset class="form">
            <legend>{words.people.roles}</legend>
            {Object.entries(words.people.roleNames).map(([role, text]) => (
                <label key={role} class="check">
                    <input type="checkbox" checked={roles.includes(role)} onChange={(event) =>
                        setRoles(event.currentTarget.checked ? [...roles, role] : roles.filter((one) => one !== role))} />
                    {text}
                </label>
            ))}
            <div class="ways">
                <AskOnce label={words.people.saveRoles} title={words.people.rolesTitle} run={acting.run}
                    text={words.people.rolesText(name, roles.join(', '))} act={async () => {
                        await send('POST', `/api/accounts/${encodeURIComponent(name)}/roles`,
                            { roles: roles.length === 0 ? 'player' : roles.join(' ') });
                        again();
                        return words.done;
                    }} />
            </div>
        </fieldset>
    );
}

function Chat({ account, acting }: { account: string; acting: Acting }): JSX.Element {
    const [rule, setRule] = useState('');
    const save = (event: Event): void => {
        event.preventDefault();
        void acting.run(async () => {
            await send('PUT', `/admin/users/${encodeURIComponent(account)}/chat`, { rule });
            return words.done;
        });
    };
    return (
        <form class="form" onSubmit={save}>
            <label for="chat-rule">{words.people.chat}</label>
            <select id="chat-rule" value={rule} required onChange={(event) => setRule(event.currentTarget.value)}>
                <option value="">{words.people.chatAsIs}</option>
                {Object.entries(words.people.chatRules).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
            </select>
            <button class="button quiet" type="submit">{words.people.saveChat}</button>
        </form>
    );
}

// Keeping somebody out or silent, and lifting it again.
export function Restrict({ kind, account, name, isOn, acting, again }: {
    kind: 'ban' | 'mute'; account: string; name: string; isOn: boolean; acting: Acting; again: () => void;
}): JSX.Element {
    const isBan = kind === 'ban';
    if (isOn) {
        return <button type="button" class="button quiet" onClick={() => void acting.run(async () => {
            await send('DELETE', `/admin/${kind}?account=${encodeURIComponent(account)}`);
            again();
            return words.done;
        })}>{isBan ? words.people.unban : words.people.unmute}</button>;
    }
    return <AskOnce label={isBan ? words.people.ban : words.people.mute} withReason withMinutes run={acting.run}
        title={isBan ? words.people.banTitle(name) : words.people.muteTitle(name)}
        text={isBan ? words.people.banText : words.people.muteText} act={async (fields) => {
            await send('POST', `/admin/${kind}`, banBody(account, fields));
            again();
            return words.done;
        }} />;
}

function PersonPage({ who }: { who: string }): JSX.Element {
    const loaded = useLoaded<Person>(`/admin/users/${encodeURIComponent(who)}`);
    const acting = useActing();
    const [link, setLink] = useState('');
    const person = loaded.value;
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    if (person === null) {
        return <p role="status">{siteWords.loading}</p>;
    }
    const name = person.username ?? person.shown_name;
    const owner = person.username ?? `~${parseInt(person.account.replace(/^\w+_/, ''), 16)}`;
    const restrict = { account: person.account, name, acting, again: loaded.again };
    return (
        <>
            <p><a href="/operator/people">{words.people.back}</a></p>
            <h2 class="person">{name} {person.banned && <span class="badge">{words.people.banned}</span>}
                {person.muted && <span class="badge">{words.people.muted}</span>}</h2>
            <dl class="facts">
                <div><dt>{words.people.account}</dt><dd>{person.account}{person.guest && ` (${words.people.guest})`}</dd></div>
                <div><dt>{words.people.name}</dt><dd>{person.shown_name}</dd></div>
                <div><dt>{words.people.since}</dt><dd>{words.time(person.created)}</dd></div>
                <div><dt>{words.people.seen}</dt><dd>{words.time(person.last_sign_in)}</dd></div>
            </dl>
            <Outcome said={acting.said} />
            <div class="ways">
                <Restrict kind="ban" isOn={person.banned} {...restrict} />
                <Restrict kind="mute" isOn={person.muted} {...restrict} />
                {!person.guest && <AskOnce label={words.people.reset} title={words.people.resetTitle} run={acting.run}
                    text={words.people.resetText} act={async () => {
                        setLink((await send<{ link: string }>('POST', `/api/accounts/${encodeURIComponent(owner)}/reset`)).link);
                        return words.done;
                    }} />}
                <AskOnce label={words.people.remove} title={words.people.removeTitle(name)} run={acting.run}
                    text={words.people.removeText} act={async () => {
                        await send('DELETE', `/api/accounts/${encodeURIComponent(owner)}`);
                        go('/operator/people', true);
                        return words.people.removed(name);
                    }} />
            </div>
            {link !== '' && <Copied label={words.people.link} text={link} rows={3} />}
            <div class="two">
                {!person.guest && <Roles person={person} acting={acting} again={loaded.again} />}
                <Chat account={person.account} acting={acting} />
            </div>
            <SignIns account={person.account} />
        </>
    );
}

// --- what holds now --------------------------------------------------------------------------------

function Bans({ kind, acting }: { kind: 'ban' | 'mute'; acting: Acting }): JSX.Element {
    const list = useLoaded<{ bans: Ban[] }>(`/admin/${kind}`);
    const bans = list.value?.bans ?? [];
    return (
        <section>
            <h2>{kind === 'ban' ? words.people.bans : words.people.mutes}</h2>
            {list.value !== null && bans.length === 0 &&
                <p class="soft">{kind === 'ban' ? words.people.noBans : words.people.noMutes}</p>}
            <ul class="list">{bans.map((ban) => (
                <li key={`${ban.account} ${ban.world_id ?? ''}`} class="inline">
                    <PersonLink account={ban.account}>{ban.name}</PersonLink>
                    <span>{ban.world_id ?? ''} {ban.until === null ? words.forGood : words.until(ban.until)}</span>
                    <span class="soft">{ban.reason}{ban.by_name !== null && ` (${words.people.by(ban.by_name)})`}</span>
                    <button type="button" class="button quiet" onClick={() => void acting.run(async () => {
                        const query = new URLSearchParams({ account: ban.account,
                            ...(ban.world_id === null ? {} : { world_id: ban.world_id }) });
                        await send('DELETE', `/admin/${kind}?${query}`);
                        list.again();
                        return words.done;
                    })}>{words.people.lift}</button>
                </li>
            ))}</ul>
        </section>
    );
}

function Addresses({ acting }: { acting: Acting }): JSX.Element {
    const list = useLoaded<{ bans: { range: string; until: string | null; reason: string }[] }>('/admin/bans/addresses');
    const [range, setRange] = useState('');
    const isRange = /^[0-9a-f.:]{2,}(\/\d{1,3})?$/i.test(range.trim()); // the server looks closer
    const bans = list.value?.bans ?? [];
    return (
        <section>
            <h2>{words.people.addresses}</h2>
            {list.value !== null && bans.length === 0 && <p class="soft">{words.people.noAddresses}</p>}
            <ul class="list">{bans.map((ban) => (
                <li key={ban.range} class="inline">
                    <span>{ban.range} {ban.until === null ? words.forGood : words.until(ban.until)}</span>
                    <span class="soft">{ban.reason}</span>
                    <button type="button" class="button quiet" onClick={() => void acting.run(async () => {
                        await send('DELETE', `/admin/bans/addresses?range=${encodeURIComponent(ban.range)}`);
                        list.again();
                        return words.done;
                    })}>{words.people.lift}</button>
                </li>
            ))}</ul>
            <div class="form">
                <label for="range">{words.people.range}</label>
                <input id="range" value={range} maxLength={64} autocomplete="off"
                    onInput={(event) => setRange(event.currentTarget.value)} />
                <div class="ways">
                    <AskOnce label={words.people.banRange} isReady={isRange} title={words.people.banRangeTitle} withReason withMinutes run={acting.run}
                        text={words.people.banRangeText(range)} act={async ({ reason, minutes }) => {
                            await send('POST', '/admin/bans/addresses', { range: range.trim(), reason,
                                ...(minutes === '' ? {} : { minutes: Number(minutes) }) });
                            setRange('');
                            list.again();
                            return words.done;
                        }} />
                </div>
            </div>
        </section>
    );
}

export function PeopleSection({ query }: { query: URLSearchParams }): JSX.Element {
    const who = query.get('who');
    const asked = query.get('q') ?? '';
    const [text, setText] = useState(asked);
    const acting = useActing();
    if (who !== null) {
        return <PersonPage key={who} who={who} />;
    }
    const find = (event: Event): void => {
        event.preventDefault();
        const wanted = text.trim();
        go(/^(guest|user)_[0-9a-f]+$/.test(wanted) ? `/operator/people?who=${wanted}`
            : `/operator/people?q=${encodeURIComponent(wanted)}`);
    };
    return (
        <>
            <form class="inline" role="search" aria-label={words.sections.people} onSubmit={find}>
                <label for="person">{words.people.search}</label>
                <input id="person" value={text} maxLength={64} autocomplete="off"
                    onInput={(event) => setText(event.currentTarget.value)} />
                <button class="button" type="submit">{words.people.find}</button>
            </form>
            <Found key={asked} text={asked} />
            <Outcome said={acting.said} />
            <div class="two">
                <Bans kind="ban" acting={acting} />
                <Bans kind="mute" acting={acting} />
            </div>
            <Addresses acting={acting} />
        </>
    );
}
