// The numbers behind the picture (TAB): how the connection is, and whether prediction is right.
import type { ClientStats } from '../core/bridge.ts';
import type { LinkStats } from '../core/channel.ts';

const ROWS = [
    'connection', 'server tick', 'round trip', 'jitter', 'input sequence', 'pending inputs',
    'corrections', 'interpolation', 'snapshots', 'in sight', 'scripts', 'bytes down', 'bytes up',
    'pictures',
] as const;
type RowName = typeof ROWS[number];

const bytes = (count: number): string =>
    count < 1024 ? `${count.toFixed(0)} B` : `${(count / 1024).toFixed(1)} KiB`;

function scripts(stats: ClientStats): string {
    if (stats.manifestVersion === 0) {
        return stats.scripts === 0 ? 'none yet' : `${stats.runes} of ${stats.scripts} here`;
    }
    return `${stats.scripts}, manifest ${stats.manifestVersion}${
        stats.manifestProven ? ', verified' : ''}`;
}

export class Overlay {
    private readonly table: HTMLTableElement;
    private readonly cells = new Map<RowName, HTMLTableCellElement>();
    private before: { at: number; down: number; up: number } | null = null;

    constructor(table: HTMLTableElement) {
        this.table = table;
        const body = table.tBodies[0] ?? table.createTBody();
        for (const name of ROWS) {
            const row = body.insertRow();
            const head = document.createElement('th');
            head.textContent = name;
            head.scope = 'row';
            row.append(head);
            const cell = row.insertCell();
            cell.dataset.row = name;
            this.cells.set(name, cell);
        }
    }

    toggle(): void {
        this.table.hidden = !this.table.hidden;
    }

    update(stats: ClientStats, link: LinkStats, fps: number): void {
        const now = performance.now();
        const before = this.before ?? { at: now - 1000, down: stats.bytesDown, up: stats.bytesUp };
        const seconds = Math.max((now - before.at) / 1000, 0.001);
        const rate = (count: number, old: number): string =>
            `${bytes(Math.max(count - old, 0) / seconds)}/s · ${bytes(count)} in all`;
        const last = (stats.correctionLastM * 100).toFixed(1);
        const values: Record<RowName, string> = {
            'connection': link.connections > 1
                ? `${link.phase}, ${link.connections - 1}× reconnected` : link.phase,
            'server tick': String(stats.serverTick),
            'round trip': `${stats.rttMs.toFixed(1)} ms`,
            'jitter': `${stats.jitterMs.toFixed(1)} ms`,
            'input sequence': String(stats.inputSeq),
            'pending inputs': `${stats.pendingInputs}, ${stats.leadTicks.toFixed(1)} ticks ahead`,
            'corrections': stats.corrections === 0 ? '0' : `${stats.corrections}, last ${last} cm`,
            'interpolation': `${stats.delayMs.toFixed(0)} ms behind`,
            'snapshots': `${stats.snapshots}, p99 ${stats.snapshotIntervalP99Ms.toFixed(0)} ms apart`,
            'in sight': String(stats.visible),
            'scripts': scripts(stats),
            'bytes down': rate(stats.bytesDown, before.down),
            'bytes up': rate(stats.bytesUp, before.up),
            'pictures': `${fps.toFixed(0)} a second`,
        };
        if (this.before === null || now - before.at > 1000) {
            this.before = { at: now, down: stats.bytesDown, up: stats.bytesUp };
        }
        if (this.table.hidden) {
            return;
        }
        for (const [name, cell] of this.cells) {
            cell.textContent = values[name];
        }
    }
}
