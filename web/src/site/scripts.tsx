// What scripts do while a place is played: faults with file and line, and what each script costs.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Failure } from './api.ts';
import { messageOf, useLoaded } from './parts.tsx';
import { followScripts, type CostRow, type ScriptCosts as Costs } from './script_costs.ts';
import { words } from './words_create.ts';
import { bytesText } from './words_place.ts';

interface World {
    room_code: string;
    name: string;
}

interface Room {
    code: string;
    name: string;
}

const ROOMS_MS = 5000;
const ROWS = 12;

function FaultList({ title, faults }: {
    title: string; faults: { key: string; where: string; message: string }[];
}): JSX.Element {
    return (
        <>
            <h3>{title}</h3>
            <ul class="faults">{faults.map((fault) =>
                <li key={fault.key}><strong>{fault.where}</strong> {fault.message}</li>)}</ul>
        </>
    );
}

function Table({ rows }: { rows: CostRow[] }): JSX.Element {
    return (
        <div class="table" tabIndex={0} role="region" aria-label={words.scripts}><table>
            <thead><tr><th scope="col">{words.script}</th><th scope="col">{words.state}</th>
                <th scope="col" class="number">{words.calls}</th>
                <th scope="col" class="number">{words.mean}</th>
                <th scope="col" class="number">{words.p99}</th>
                <th scope="col" class="number">{words.memory}</th>
                <th scope="col" class="number">{words.faults}</th></tr></thead>
            <tbody>{rows.map((row) => (
                <tr key={row.path}><th scope="row">{row.path}</th><td>{row.state}</td>
                    <td class="number">{words.whole(row.calls)}</td>
                    <td class="number">{words.microseconds(row.timeMeanUs)}</td>
                    <td class="number">{words.microseconds(row.timeP99Us)}</td>
                    <td class="number">{bytesText(row.memoryBytes)}</td>
                    <td class="number">{words.whole(row.faults)}</td></tr>
            ))}</tbody>
        </table></div>
    );
}

function Watched({ code }: { code: string }): JSX.Element {
    const [costs, setCosts] = useState<Costs | null>(null);
    const [said, setSaid] = useState('');
    useEffect(() => {
        const ended = new AbortController();
        void followScripts(code, ended.signal, (answer) => {
            setSaid(answer instanceof Failure
                ? answer.status === 503 ? words.restarted : messageOf(answer) : '');
            if (!(answer instanceof Failure)) {
                setCosts(answer);
            }
        });
        return () => ended.abort();
    }, [code]);
    const faults = [...costs?.faults ?? []].reverse();
    const reported = costs?.clients.faults ?? [];
    return (
        <>
            <p class="soft" role="status">{said !== '' ? said : costs !== null && faults.length === 0 ? words.noFaults : ''}</p>
            {faults.length > 0 && <FaultList title={words.faults} faults={faults.map((fault) => ({
                key: String(fault.number), where: `${fault.file === '' ? fault.path : fault.file}:${fault.line}`,
                message: `${fault.kind}: ${fault.message}`,
            }))} />}
            {reported.length > 0 && <FaultList title={words.clientFaults} faults={reported.map((fault, at) => ({
                key: String(at), where: `${fault.path}:${fault.line}`,
                message: `${fault.message} (${words.times(fault.count)})`,
            }))} />}
            {costs !== null && costs.scripts.length > 0 && <Table rows={costs.scripts.slice(0, ROWS)} />}
        </>
    );
}

// The worlds of the place that run: those of players, and of its draft and beta.
function useRooms(id: string): Room[] | null {
    const path = `/api/places/${encodeURIComponent(id)}/worlds?limit=50`;
    const lists = [
        { channel: '', list: useLoaded<{ worlds: World[] }>(path) },
        { channel: 'draft', list: useLoaded<{ worlds: World[] }>(`${path}&channel=draft`) },
        { channel: 'beta', list: useLoaded<{ worlds: World[] }>(`${path}&channel=beta`) },
    ];
    useEffect(() => {
        const timer = setInterval(() => {
            if (document.visibilityState === 'visible') {
                lists.forEach(({ list }) => list.again());
            }
        }, ROOMS_MS);
        return () => clearInterval(timer);
    });
    if (lists.some(({ list }) => list.value === null && list.failure === null)) {
        return null;
    }
    return lists.flatMap(({ channel, list }) => (list.value?.worlds ?? []).map((world) => ({
        code: world.room_code, name: [world.name, channel].filter((part) => part !== '').join(', '),
    })));
}

export function ScriptCosts({ id }: { id: string }): JSX.Element {
    const rooms = useRooms(id);
    const [chosen, setChosen] = useState('');
    const code = rooms?.some((room) => room.code === chosen) === true ? chosen : rooms?.[0]?.code ?? '';
    return (
        <section>
            <h2>{words.scripts}</h2>
            <p class="soft">{words.scriptsHint}</p>
            {rooms !== null && rooms.length === 0 && <p>{words.noWorld}</p>}
            {rooms !== null && rooms.length > 0 && <>
                <p class="inline"><label for="watched">{words.world}</label>
                    <select id="watched" value={code} onChange={(event) => setChosen(event.currentTarget.value)}>
                        {rooms.map((room) => <option key={room.code} value={room.code}>
                            {room.name === '' ? room.code : `${room.code} · ${room.name}`}</option>)}
                    </select></p>
                <Watched key={code} code={code} />
            </>}
        </section>
    );
}
