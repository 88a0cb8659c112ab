// Numbers as they change: one stream of server-sent events for the whole page (GET /api/live), shared by
// all parts of it. It is closed while the tab is hidden or nobody follows anything, and opened again
// with growing pauses when the server cannot be reached.
import { useEffect, useState } from 'preact/hooks';

export type LiveTopic = 'places' | 'operator' | `place=${string}`;

// Rows of a topic by their keys; null until the first event came.
export type LiveRows<T> = ReadonlyMap<string, T> | null;

interface Topic {
    rows: Map<string, unknown> | null;
    listeners: Set<() => void>;
}

interface LiveEvent {
    full: boolean;
    rows: Record<string, unknown>; // null: the row is gone
}

const AGAIN_MS = 100;
const PAUSE_MS = 2000; // after a failure, doubled each time
const PAUSE_MS_MAX = 60_000;

const topics = new Map<LiveTopic, Topic>();
let source: EventSource | null = null;
let opened = ''; // the address of `source`
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

// One place at a time has a stream of its own: the last that was asked for.
function wantedAddress(): string {
    const names = [...topics.keys()];
    const shared = ['places', 'operator'].filter((name) => names.includes(name as LiveTopic));
    const place = names.filter((name) => name.startsWith('place=')).at(-1);
    const query = new URLSearchParams();
    if (shared.length > 0) {
        query.set('topics', shared.join(','));
    }
    if (place !== undefined) {
        query.set('place', place.slice('place='.length));
    }
    return query.size === 0 ? '' : `/api/live?${query}`;
}

function take(name: LiveTopic, text: string): void {
    const topic = topics.get(name);
    if (topic === undefined) {
        return;
    }
    const event = JSON.parse(text) as LiveEvent;
    const rows = new Map(event.full || topic.rows === null ? [] : topic.rows);
    for (const [key, row] of Object.entries(event.rows)) {
        if (row === null) {
            rows.delete(key);
        } else {
            rows.set(key, row);
        }
    }
    topic.rows = rows;
    for (const listener of topic.listeners) {
        listener();
    }
}

function close(): void {
    source?.close();
    source = null;
    opened = '';
}

function later(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(update, ms);
}

function open(wanted: string): void {
    close();
    const stream = new EventSource(wanted);
    source = stream;
    opened = wanted;
    for (const kind of ['places', 'operator'] as const) {
        stream.addEventListener(kind, (event: MessageEvent<string>) => {
            failures = 0;
            take(kind, event.data);
        });
    }
    const place = new URLSearchParams(wanted.split('?')[1]).get('place');
    if (place !== null) {
        stream.addEventListener('place', (event: MessageEvent<string>) => {
            failures = 0;
            take(`place=${place}`, event.data);
        });
    }
    // The server ends each stream after a while, and asks for another.
    stream.addEventListener('again', () => {
        close();
        later(AGAIN_MS);
    });
    stream.onerror = () => {
        close();
        later(Math.min(PAUSE_MS * 2 ** failures, PAUSE_MS_MAX));
        failures += 1;
    };
}

// Opens what is wanted now, or closes what is not.
function update(): void {
    const wanted = document.hidden ? '' : wantedAddress();
    if (wanted === '') {
        clearTimeout(timer);
        close();
    } else if (wanted !== opened) {
        open(wanted);
    }
}

document.addEventListener('visibilitychange', () => later(AGAIN_MS));
addEventListener('pagehide', close);
addEventListener('pageshow', () => later(AGAIN_MS));

export function follow(name: LiveTopic, listener: () => void): () => void {
    const topic: Topic = topics.get(name) ?? { rows: null, listeners: new Set() };
    topics.set(name, topic);
    topic.listeners.add(listener);
    later(AGAIN_MS); // parts of a page that appear together ask once
    return () => {
        topic.listeners.delete(listener);
        if (topic.listeners.size === 0) {
            topics.delete(name);
        }
        later(AGAIN_MS);
    };
}

// The rows of a topic, and again whenever they change. null as the name follows nothing.
export function useLive<T>(name: LiveTopic | null): LiveRows<T> {
    const [rows, setRows] = useState<LiveRows<T>>(null);
    useEffect(() => {
        if (name === null) {
            setRows(null);
            return undefined;
        }
        const show = (): void => setRows(topics.get(name)?.rows as LiveRows<T> ?? null);
        const stop = follow(name, show);
        show();
        return stop;
    }, [name]);
    return rows;
}

export interface LivePlace {
    players: number;
    worlds: number;
}

// How many play a listed place now: as the stream says, or as it was when the page was made.
export function usePlayers(id: string, before: number): number {
    const rows = useLive<LivePlace>('places');
    return rows === null ? before : rows.get(id)?.players ?? 0;
}
