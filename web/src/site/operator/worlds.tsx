// Worlds that run, with charts of the last ten minutes; stop, kick, announce, drain.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { get, send } from '../api.ts';
import { useLive } from '../live.ts';
import type { LiveRows } from '../live.ts';
import { words as siteWords } from '../words.ts';
import { words } from '../words_operator.ts';

import { Histories } from './history.ts';
import type { Seen } from './history.ts';
import { AskOnce, Chart, Outcome, PersonLink, Table, reasonOf, useActing } from './parts.tsx';
import type { Acting } from './parts.tsx';

interface Row extends Seen {
    name?: string;
    room_code?: string;
    place_id?: string;
    state?: string;
    player_max?: number;
    crashes?: number;
    reported_by?: string | null;
    worlds?: number; // of the server
    draining?: boolean;
    hosts?: HostRow[]; // of the server: all on its database
}

interface HostRow {
    id: string;
    address: string;
    self: boolean;
    answers: boolean;
    draining: boolean;
    worlds: number;
    players: number;
    memory_permille: number;
    tick_permille: number;
}

interface SignIn {
    account: string;
    username: string;
    world_id: string | null;
    is_playing: boolean; // in that world, now
}

// It outlives the page, so that coming back shows the same charts.
const histories = new Histories();

// The rows as they are now, and once a second one more number in each chart.
function useHistory(): LiveRows<Row> {
    const rows = useLive<Row>('operator');
    const [, setCount] = useState(0);
    const latest = useRef(rows);
    latest.current = rows;
    useEffect(() => {
        const timer = setInterval(() => {
            if (document.hidden) {
                histories.rest(latest.current);
                return;
            }
            histories.add(latest.current, performance.now());
            setCount((count) => count + 1);
        }, 1000);
        return () => clearInterval(timer);
    }, []);
    return rows;
}

function nameOf(row: Row): string {
    return row.name !== undefined && row.name !== '' ? `${row.name} (${row.room_code ?? ''})` : row.room_code ?? '';
}

const PEOPLE_MS = 2000;

// `host`: of the same database, if the world is there. Hosts tell each other how many play, not who.
function People({ world, host, acting }: { world: string; host: HostRow | undefined; acting: Acting }): JSX.Element {
    const [people, setPeople] = useState<SignIn[] | null>(null);
    const [wrong, setWrong] = useState('');
    const load = (): void => {
        get<{ sessions: SignIn[] }>('/admin/sessions')
            .then(({ sessions }) => setPeople(sessions.filter((each) => each.world_id === world && each.is_playing)))
            .catch((cause: unknown) => setWrong(reasonOf(cause)));
    };
    useEffect(() => { // they come and go, and a world says who is in it once a second
        load();
        const timer = setInterval(load, PEOPLE_MS);
        return () => clearInterval(timer);
    }, [world]);
    if (wrong !== '') {
        return <p class="wrong" role="alert">{wrong}</p>;
    }
    if (host !== undefined && people?.length === 0) {
        return <p class="soft">{words.worlds.peopleThere} <a href={pageOf(host)}>{host.address.replace(/^wss?:\/\//, '')}</a></p>;
    }
    return people?.length === 0 ? <p class="soft">{words.worlds.noPeople}</p> : (
        <ul class="list">{(people ?? []).map((one) => (
            <li key={one.account} class="inline">
                <PersonLink account={one.account}>{one.username}</PersonLink>
                <AskOnce label={words.worlds.kick} title={words.worlds.kickTitle(one.username)}
                    text={words.worlds.kickText} withReason run={acting.run} act={async ({ reason }) => {
                        await send('POST', '/admin/kick', { account: one.account, world_id: world, reason });
                        setTimeout(load, 500);
                        return words.worlds.kicked(one.username);
                    }} />
            </li>
        ))}</ul>
    );
}

const pageOf = (host: HostRow): string => `${host.address.replace(/^ws/, 'http')}/operator`;

function WorldRow({ id, row, host, acting }: {
    id: string; row: Row; host: HostRow | undefined; acting: Acting;
}): JSX.Element {
    const [isOpen, setOpen] = useState(false);
    const history = histories.of(id);
    return (
        <>
            <tr>
                <th scope="row">
                    {nameOf(row)}
                    {row.reported_by != null && <span class="soft"> {words.worlds.elsewhere(host?.address ?? row.reported_by)}</span>}
                    {row.state !== 'running' && <span class="soft"> {row.state}</span>}
                </th>
                <td><a href={`/place/${encodeURIComponent(row.place_id ?? '')}`}>{row.place_id}</a></td>
                <td>{words.number(row.players)}<Chart small label={words.worlds.players} values={history.players} shown={words.number} /></td>
                <td>{words.milliseconds(row.tick_p99_ms)}
                    <Chart small label={words.worlds.tick} values={history.tick} shown={words.milliseconds} /></td>
                <td>{words.bytes(row.memory_bytes)}<Chart small label={words.worlds.memory} values={history.memory} shown={words.bytes} /></td>
                <td>{words.rate(history.traffic.at(-1) ?? 0)}
                    <Chart small label={words.worlds.traffic} values={history.traffic} shown={words.rate} /></td>
                <td>
                    <div class="inline">
                        <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                            {isOpen ? words.worlds.close : words.worlds.open}</button>
                        <AskOnce label={words.worlds.stop} title={words.worlds.stopTitle} run={acting.run}
                            text={words.worlds.stopText(nameOf(row), row.players)} act={async () => {
                                await send('DELETE', `/admin/servers/${encodeURIComponent(id)}`);
                                return words.worlds.stopped(nameOf(row));
                            }} />
                    </div>
                </td>
            </tr>
            {isOpen && <tr><td colSpan={7}><People world={id} host={host} acting={acting} /></td></tr>}
        </>
    );
}

function Announce(): JSX.Element {
    const acting = useActing(); // said here: the list of worlds above it may be long
    const [text, setText] = useState('');
    const players = useLive<Row>('operator')?.get('server')?.players ?? 0;
    const announce = async (event: Event): Promise<void> => {
        event.preventDefault();
        const isDone = await acting.run(async () => words.worlds.announced(
            (await send<{ worlds: number }>('POST', '/admin/announce', { text })).worlds, players));
        if (isDone) {
            setText('');
        }
    };
    return (
        <form class="form" onSubmit={(event) => void announce(event)}>
            <h2>{words.worlds.announce}</h2>
            <label for="announce">{words.worlds.announceText}</label>
            <input id="announce" required maxLength={256} value={text} aria-describedby="announce-hint"
                aria-invalid={acting.said?.isWrong === true} onInput={(event) => setText(event.currentTarget.value)} />
            <p id="announce-hint" class="soft">{words.worlds.announceHint}</p>
            <button class="button" type="submit">{words.worlds.send}</button>
            <Outcome said={acting.said} />
        </form>
    );
}

function Drain({ isDraining, acting }: { isDraining: boolean; acting: Acting }): JSX.Element {
    return (
        <div class="inline drain">
            <p class={isDraining ? 'wrong' : 'soft'}>{isDraining ? words.worlds.draining : words.worlds.accepts}</p>
            {isDraining
                ? <button type="button" class="button" onClick={() => void acting.run(async () => {
                    await send('DELETE', '/admin/drain');
                    return words.worlds.accepts;
                })}>{words.worlds.undrain}</button>
                : <AskOnce label={words.worlds.drain} title={words.worlds.drainTitle} text={words.worlds.drainText}
                    run={acting.run} act={async () => {
                        await send('POST', '/admin/drain');
                        return words.worlds.draining;
                    }} />}
        </div>
    );
}

function hostState(host: HostRow): string {
    return !host.answers ? words.worlds.hostSilent : host.draining ? words.worlds.hostDrains : words.worlds.hostServes;
}

// Of several hosts on one database; one alone has no list. This one is drained below it.
function Hosts({ hosts, acting }: { hosts: HostRow[]; acting: Acting }): JSX.Element | null {
    const { hosts: title, players, worlds, memoryShare, tickShare, state, actions } = words.worlds;
    return hosts.length < 2 ? null : (
        <Table label={title} head={[words.worlds.host, state, worlds, players, memoryShare, tickShare, actions]}>
            {hosts.map((host) => (
                <tr key={host.id}>
                    <th scope="row">{host.address}<span class="soft"> {host.self ? words.worlds.hostSelf : host.id}</span></th>
                    <td class={host.answers ? '' : 'wrong'}>{hostState(host)}</td>
                    <td>{words.number(host.worlds)}</td>
                    <td>{words.number(host.players)}</td>
                    <td>{words.percent(host.memory_permille / 1000)}</td>
                    <td>{words.percent(host.tick_permille / 1000)}</td>
                    <td>{!host.self && (host.draining
                        ? <button type="button" class="button quiet" onClick={() => void acting.run(async () => {
                            await send('DELETE', `/admin/drain?host=${encodeURIComponent(host.id)}`);
                            return words.worlds.hostUndrained(host.address);
                        })}>{words.worlds.undrain}</button>
                        : <AskOnce label={words.worlds.drain} title={words.worlds.hostDrainTitle} text={words.worlds.drainText}
                            run={acting.run} act={async () => {
                                await send('POST', '/admin/drain', { host: host.id });
                                return words.worlds.hostDrained(host.address);
                            }} />)}</td>
                </tr>
            ))}
        </Table>
    );
}

const ROWS_SHOWN = 50; // each has four charts, which are drawn anew every second

export function WorldsSection(): JSX.Element {
    const rows = useHistory();
    const acting = useActing();
    const [wanted, setWanted] = useState('');
    const [shown, setShown] = useState(ROWS_SHOWN);
    const server = rows?.get('server');
    const all = [...rows ?? []].filter(([key]) => key !== 'server')
        .sort(([, a], [, b]) => b.players - a.players);
    const text = wanted.trim().toLowerCase();
    const worlds = all.filter(([id, row]) => text === '' ||
        `${id} ${nameOf(row)} ${row.place_id ?? ''}`.toLowerCase().includes(text));
    const history = histories.of('server');
    const { players, tick, memory, traffic } = words.worlds;
    return (
        <>
            <section class="charts" aria-label={words.worlds.now}>
                <Chart label={players} values={history.players} shown={words.number} />
                <Chart label={tick} values={history.tick} shown={words.milliseconds} />
                <Chart label={memory} values={history.memory} shown={words.bytes} />
                <Chart label={traffic} values={history.traffic} shown={words.rate} />
            </section>
            <Outcome said={acting.said} />
            {rows === null && <p role="status">{siteWords.loading}</p>}
            {rows !== null && all.length === 0 && <p>{words.worlds.none}</p>}
            {all.length > 1 && <form class="inline" role="search" aria-label={words.worlds.worlds}
                onSubmit={(event) => event.preventDefault()}>
                <label for="world">{words.worlds.search}</label>
                <input id="world" type="search" value={wanted} maxLength={64} autocomplete="off"
                    onInput={(event) => setWanted(event.currentTarget.value)} />
                <span class="soft" role="status">{words.worlds.shown(Math.min(shown, worlds.length), all.length)}</span>
            </form>}
            {worlds.length > 0 &&
                <Table label={words.worlds.worlds} head={[words.worlds.name, words.worlds.place, players, tick, memory,
                    traffic, words.worlds.actions]}>
                    {worlds.slice(0, shown).map(([id, row]) => <WorldRow key={id} id={id} row={row} acting={acting}
                        host={server?.hosts?.find((host) => host.id === row.reported_by)} />)}
                </Table>}
            {worlds.length > shown && <p><button type="button" class="button quiet"
                onClick={() => setShown(shown + ROWS_SHOWN)}>{words.more}</button></p>}
            <Hosts hosts={server?.hosts ?? []} acting={acting} />
            <Drain isDraining={server?.draining === true} acting={acting} />
            <Announce />
        </>
    );
}
