// The numbers behind the picture (TAB): how the connection is, and whether prediction is right.
import type { ClientStats } from '../core/bridge.ts';
import type { LinkStats } from '../core/channel.ts';
import { laterWords } from './words_later.ts';

const say = laterWords.overlay;
type RowName = keyof typeof say.rows;
const ROWS = Object.keys(say.rows) as RowName[];

const WINDOW_MS = 2000; // rates are of so long
interface Counted {
    at: number; // ms, when the worker counted it
    down: number;
    up: number;
    snapshots: number;
}

const bytes = (count: number): string =>
    count < 1024 ? `${count.toFixed(0)} B` : `${(count / 1024).toFixed(1)} KiB`;

function scripts(stats: ClientStats): string {
    if (stats.manifestVersion === 0) {
        return stats.scripts === 0 ? say.noScripts : say.scriptsHere(stats.runes, stats.scripts);
    }
    return say.manifest(stats.scripts, stats.manifestVersion, stats.manifestProven);
}

export class Overlay {
    private readonly table: HTMLTableElement;
    private readonly cells = new Map<RowName, HTMLTableCellElement>();
    private counted: Counted[] = []; // of the window, the oldest first

    constructor(table: HTMLTableElement) {
        this.table = table;
        const body = table.tBodies[0] ?? table.createTBody();
        for (const name of ROWS) {
            const row = body.insertRow();
            const head = document.createElement('th');
            head.textContent = say.rows[name];
            head.scope = 'row';
            row.append(head);
            const cell = row.insertCell();
            cell.dataset.row = name;
            this.cells.set(name, cell);
        }
    }

    // Returns whether it is seen now.
    toggle(): boolean {
        this.table.hidden = !this.table.hidden;
        return !this.table.hidden;
    }

    // A second's worth of each, from what was counted at both ends of the window. Counters that are
    // smaller than before are of another connection: the window begins again.
    private rates(now: Counted): Counted {
        const last = this.counted.at(-1);
        if (last !== undefined && (now.down < last.down || now.snapshots < last.snapshots)) {
            this.counted = [];
        }
        this.counted.push(now);
        while (this.counted.length > 2 && now.at - (this.counted[1]?.at ?? now.at) >= WINDOW_MS) {
            this.counted.shift();
        }
        const first = this.counted[0] ?? now;
        const seconds = (now.at - first.at) / 1000;
        const perSecond = (count: number, before: number): number =>
            seconds > 0 ? (count - before) / seconds : 0;
        return {
            at: now.at, down: perSecond(now.down, first.down), up: perSecond(now.up, first.up),
            snapshots: perSecond(now.snapshots, first.snapshots),
        };
    }

    update(stats: ClientStats, link: LinkStats, fps: number): void {
        const rates = this.rates({
            at: link.atMs, down: stats.bytesDown, up: stats.bytesUp, snapshots: stats.snapshots,
        });
        const rate = (perSecond: number, count: number): string =>
            say.rate(bytes(perSecond), bytes(count));
        const phase = say.phases[link.phase];
        const values: Record<RowName, string> = {
            'connection': link.connections > 1 ? say.reconnected(phase, link.connections - 1) : phase,
            'server tick': String(stats.serverTick),
            'round trip': `${stats.rttMs.toFixed(1)} ms`,
            'jitter': `${stats.jitterMs.toFixed(1)} ms`,
            'input sequence': String(stats.inputSeq),
            'pending inputs': say.pending(stats.pendingInputs, stats.leadTicks.toFixed(1)),
            'corrections': stats.corrections === 0 ? '0'
                : say.corrections(stats.corrections, (stats.correctionLastM * 100).toFixed(1)),
            'interpolation': say.behind(stats.delayMs.toFixed(0)),
            'snapshots': say.snapshots(rates.snapshots.toFixed(1), stats.snapshots,
                stats.snapshotIntervalP99Ms.toFixed(0)),
            'in sight': String(stats.visible),
            'scripts': scripts(stats),
            'bytes down': rate(rates.down, stats.bytesDown),
            'bytes up': rate(rates.up, stats.bytesUp),
            'pictures': say.fps(fps.toFixed(0)),
        };
        if (this.table.hidden) {
            return;
        }
        for (const [name, cell] of this.cells) {
            cell.textContent = values[name];
        }
    }
}
