// What was seen of each world, and of the server, one number for each second: the charts of the last ten
// minutes. Nothing is seen while the tab is hidden, because the stream of live numbers rests then.
import type { LiveRows } from '../live.ts';

export interface Seen {
    players: number;
    tick_p99_ms: number;
    memory_bytes: number;
    bytes_down: number; // a counter
}

export interface History {
    players: number[];
    tick: number[];
    memory: number[];
    traffic: number[]; // in a second
    bytes: number; // the counter when it was last looked at
    at: number; // when that was, in ms
}

export const CHART_SECONDS = 600;
export const EMPTY: History = { players: [], tick: [], memory: [], traffic: [], bytes: 0, at: 0 };

function push(list: number[], value: number): void {
    list.push(value);
    if (list.length > CHART_SECONDS) {
        list.shift();
    }
}

export class Histories {
    private readonly byKey = new Map<string, History>();
    private stale: LiveRows<Seen> | undefined; // what was seen last before the tab was hidden

    of(key: string): History {
        return this.byKey.get(key) ?? EMPTY;
    }

    rest(rows: LiveRows<Seen>): void {
        this.stale = rows;
    }

    // What was sent while the tab was hidden is no peak of one second: it is spread over that time, as soon as
    // the stream has said something new.
    add(rows: LiveRows<Seen>, now: number): void {
        if (rows === null || rows === this.stale) {
            return;
        }
        this.stale = undefined;
        for (const [key, row] of rows) {
            const history = this.byKey.get(key) ?? { players: [], tick: [], memory: [], traffic: [], bytes: row.bytes_down, at: now };
            this.byKey.set(key, history);
            push(history.players, row.players);
            push(history.tick, row.tick_p99_ms);
            push(history.memory, row.memory_bytes);
            push(history.traffic, Math.max(0, row.bytes_down - history.bytes) / Math.max(1, (now - history.at) / 1000));
            history.bytes = row.bytes_down;
            history.at = now;
        }
        for (const key of this.byKey.keys()) {
            if (!rows.has(key)) {
                this.byKey.delete(key);
            }
        }
    }
}
