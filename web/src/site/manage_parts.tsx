// Parts of the page where a place is worked on: screenshots, numbers, team, giving it away.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { Failure, send } from './api.ts';
import type { Managed } from './manage.tsx';
import { Trouble, messageOf, useLoaded } from './parts.tsx';
import { words as siteWords } from './words.ts';
import { words } from './words_create.ts';

const SHOTS_MAX = 8;

// Sends a picture as it is; the server looks into it.
async function putPicture(path: string, file: File): Promise<void> {
    const answer = await fetch(path, {
        method: 'PUT', body: file, headers: { 'X-Sandlot': '1', 'Content-Type': file.type },
    }).catch(() => { throw new Failure(0, 'unreachable', ''); });
    if (!answer.ok) {
        const body = await answer.json().catch(() => ({})) as { error?: { code?: string; message?: string } };
        throw new Failure(answer.status, body.error?.code ?? '', body.error?.message ?? String(answer.status),
            Number(answer.headers.get('Retry-After') ?? 0));
    }
    await answer.arrayBuffer(); // until it is read, the connection is taken
}

export function Pictures({ place, changed }: { place: Managed; changed: () => void }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(place.place_id)}/pictures`;
    const [said, setSaid] = useState('');
    const [stamp, setStamp] = useState(0); // a number may show another picture than before
    const shots = place.pictures.filter((number) => number > 0);
    const free = Array.from({ length: SHOTS_MAX }, (_, at) => at + 1).find((number) => !shots.includes(number));
    const act = async (ask: () => Promise<unknown>): Promise<void> => {
        try {
            await ask();
            setSaid('');
            setStamp(stamp + 1);
            changed();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    const choose = (id: string, label: string, number: number): JSX.Element => (
        <div class="form">
            <label for={id}>{label}</label>
            <input id={id} type="file" accept="image/png,image/jpeg" aria-describedby="pictures-said"
                aria-invalid={said !== ''} onChange={(event) => {
                    const chosen = event.currentTarget.files?.[0];
                    if (chosen !== undefined) {
                        void act(() => putPicture(`${base}/${number}`, chosen));
                    }
                }} />
        </div>
    );
    const address = (number: number): string => `${base}/${number}${stamp > 0 ? `?${stamp}` : ''}`;
    return (
        <section>
            <h2>{words.pictures}</h2>
            <p class="soft">{words.picturesHint}</p>
            <ul class="shots"><li>
                <img src={address(0)} alt={words.thumbnail} />
                <span class="soft">{place.own_thumbnail === true ? words.thumbnail
                    : place.pictures.includes(0) ? words.thumbnailOfRevision : words.thumbnailDrawn}</span>
                {place.own_thumbnail === true && <button type="button" class="button quiet"
                    aria-label={`${siteWords.remove}: ${words.thumbnail}`}
                    onClick={() => void act(() => send('DELETE', `${base}/0`))}>{siteWords.remove}</button>}
            </li>{shots.map((number) => (
                <li key={number}>
                    <img src={address(number)} alt={words.picture(number)} />
                    <button type="button" class="button quiet" aria-label={`${siteWords.remove}: ${words.picture(number)}`}
                        onClick={() => void act(() => send('DELETE', `${base}/${number}`))}>
                        {siteWords.remove}</button>
                </li>
            ))}</ul>
            <div class="two">
                {choose('thumbnail', words.setThumbnail, 0)}
                {free !== undefined && choose('shot', words.addPicture, free)}
            </div>
            <p id="pictures-said" class="wrong" role="alert">{said}</p>
        </section>
    );
}

interface Day {
    day: string;
    visits: number;
    unique_players: number;
    returned: number;
    seconds_played: number;
    peak_players: number;
}

interface Stats {
    visits: number;
    unique_players: number;
    seconds_played: number;
    days: Day[];
}

type Shown = 'visits' | 'unique_players' | 'seconds_played' | 'returned';

const SERIES: Record<Shown, { name: string; text: (value: number) => string }> = {
    visits: { name: words.visits, text: words.whole },
    unique_players: { name: words.unique, text: words.whole },
    seconds_played: { name: words.played, text: words.hours },
    returned: { name: words.returned, text: words.whole },
};

// What the bars show, and how high the highest is.
function chartWords(days: Day[], shown: Shown): string {
    const { name, text } = SERIES[shown];
    return words.chart(name, days.length, text(Math.max(0, ...days.map((day) => day[shown]))));
}

// A bar for each day; the table behind it says the same to those who do not see it.
function Chart({ days, shown }: { days: Day[]; shown: Shown }): JSX.Element {
    const { text } = SERIES[shown];
    const most = Math.max(1, ...days.map((day) => day[shown]));
    const width = 100 / Math.max(1, days.length);
    return (
        <svg class="chart" viewBox="0 0 100 24" preserveAspectRatio="none" role="img"
            aria-label={chartWords(days, shown)}>
            {days.map((day, at) => (
                <rect key={day.day} x={at * width + width * 0.1} width={width * 0.8}
                    y={24 - 22 * day[shown] / most} height={22 * day[shown] / most}>
                    <title>{`${words.date(day.day)}: ${text(day[shown])}`}</title>
                </rect>
            ))}
        </svg>
    );
}

function DayTable({ days }: { days: Day[] }): JSX.Element {
    const names = Object.keys(SERIES) as Shown[];
    return (
        <details>
            <summary>{words.byDay}</summary>
            <div class="table" tabIndex={0} role="region" aria-label={words.byDay}><table>
                <thead><tr><th scope="col">{words.day}</th>
                    {names.map((name) => <th key={name} scope="col" class="number">{SERIES[name].name}</th>)}
                    <th scope="col" class="number">{words.peak}</th></tr></thead>
                <tbody>{[...days].reverse().map((day) => (
                    <tr key={day.day}><th scope="row">{words.date(day.day)}</th>
                        {names.map((name) => <td key={name} class="number">{SERIES[name].text(day[name])}</td>)}
                        <td class="number">{words.whole(day.peak_players)}</td></tr>
                ))}</tbody>
            </table></div>
        </details>
    );
}

export function Numbers({ id }: { id: string }): JSX.Element | null {
    const stats = useLoaded<Stats>(`/api/places/${encodeURIComponent(id)}/stats?days=30`).value;
    const [shown, setShown] = useState<Shown>('visits');
    if (stats === null) {
        return null;
    }
    const players = stats.days.reduce((sum, day) => sum + day.unique_players, 0);
    const returned = stats.days.reduce((sum, day) => sum + day.returned, 0);
    const facts: [string, string][] = [
        [words.visits, words.whole(stats.visits)], [words.unique, words.whole(stats.unique_players)],
        [words.played, words.hours(stats.seconds_played)],
        [words.retention, players === 0 ? '–' : words.percent(returned / players)],
    ];
    return (
        <section>
            <h2>{words.numbers}</h2>
            <dl class="facts">{facts.map(([name, value]) =>
                <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
            {players === 0 ? <p class="soft">{words.noNumbers}</p> : <>
                <p class="inline"><label for="shown">{words.show}</label>
                    <select id="shown" value={shown}
                        onChange={(event) => setShown(event.currentTarget.value as Shown)}>
                        {Object.entries(SERIES).map(([each, { name }]) =>
                            <option key={each} value={each}>{name}</option>)}
                    </select></p>
                <Chart days={stats.days} shown={shown} />
                <p class="soft" aria-hidden="true">{chartWords(stats.days, shown)}</p>
                <DayTable days={stats.days} />
            </>}
        </section>
    );
}

interface Team {
    offered_to: { username: string } | null;
    team: { account: number; username: string; role: string }[];
}

export function TeamList({ id }: { id: string }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(id)}/team`;
    const list = useLoaded<Team>(base);
    const [name, setName] = useState('');
    const [role, setRole] = useState('editor');
    const [said, setSaid] = useState('');
    const change = async (ask: () => Promise<unknown>, isAdded = false): Promise<void> => {
        try {
            await ask();
            setSaid('');
            setName((now) => isAdded ? '' : now);
            list.again();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    return (
        <section>
            <h2>{words.team}</h2>
            <p class="soft">{words.teamHint}</p>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value?.team.length === 0 && <p class="soft">{words.noTeam}</p>}
            <ul class="list">{(list.value?.team ?? []).map((member) => {
                const who = member.username === '' ? String(member.account) : member.username;
                return (
                    <li key={who} class="revision"><span>{who} <span class="soft">{words.roles[member.role as keyof typeof words.roles] ?? member.role}</span></span>
                        <button type="button" class="button quiet" aria-label={`${siteWords.remove}: ${who}`}
                            onClick={() => void change(() =>
                                send('DELETE', `${base}/${encodeURIComponent(who)}`))}>{siteWords.remove}</button></li>
                );
            })}</ul>
            <form class="inline" onSubmit={(event) => {
                event.preventDefault();
                void change(() => send('PUT', `${base}/${encodeURIComponent(name.trim())}`, { role }), true);
            }}>
                <label for="member">{words.account}</label>
                <input id="member" required maxLength={20} value={name} aria-invalid={said !== ''} aria-describedby="member-said"
                    onInput={(event) => setName(event.currentTarget.value)} />
                <label for="role" class="hidden">{words.role}</label>
                <select id="role" value={role} onChange={(event) => setRole(event.currentTarget.value)}>
                    <option value="editor">{words.roles.editor}</option>
                    <option value="tester">{words.roles.tester}</option>
                </select>
                <button class="button" type="submit">{siteWords.add}</button>
            </form>
            <p id="member-said" class="wrong" role="alert">{said}</p>
        </section>
    );
}

// Giving a place to somebody else, who has to accept it.
export function GiveAway({ id }: { id: string }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(id)}`;
    const team = useLoaded<Team>(`${base}/team`);
    const [name, setName] = useState('');
    const [said, setSaid] = useState('');
    const offered = team.value?.offered_to ?? null;
    const act = async (ask: () => Promise<unknown>): Promise<void> => {
        try {
            await ask();
            setSaid('');
            team.again();
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    return (
        <section>
            <h2>{words.give}</h2>
            <p class="soft">{words.giveHint}</p>
            {offered !== null
                ? <p>{words.offered(offered.username)} <button type="button" class="button quiet"
                    onClick={() => void act(() => send('DELETE', `${base}/give`))}>{words.takeBack}</button></p>
                : <form class="inline" onSubmit={(event) => {
                    event.preventDefault();
                    void act(() => send('POST', `${base}/give`, { account: name.trim() }));
                }}>
                    <label for="give-to">{words.giveTo}</label>
                    <input id="give-to" required maxLength={20} value={name} aria-invalid={said !== ''}
                        aria-describedby="give-said" onInput={(event) => setName(event.currentTarget.value)} />
                    <button class="button quiet" type="submit">{words.giveNow}</button>
                </form>}
            <p id="give-said" class="wrong" role="alert">{said}</p>
        </section>
    );
}
