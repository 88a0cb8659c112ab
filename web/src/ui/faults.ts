// Faults of client scripts, for their creators: shown only on the creator's own machine, because
// players can do nothing about them. Equal faults are shown once, with a count.
import type { Fault } from '../core/bridge.ts';

const SHOWN_MAX = 5;
const KEPT_MAX = 50;

// A world that gives everybody a ticket runs on this machine, in development.
export const isDevelopment = (): boolean =>
    /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

export class FaultList {
    private readonly list: HTMLOListElement;
    private readonly rows = new Map<string, { count: number; item: HTMLLIElement }>();
    private readonly kept: Fault[] = [];

    constructor(list: HTMLOListElement) {
        this.list = list;
    }

    newest(): Fault[] {
        return [...this.kept];
    }

    add(fault: Fault): void {
        this.kept.push(fault);
        this.kept.splice(0, this.kept.length - KEPT_MAX);
        if (!isDevelopment()) {
            return;
        }
        const text = fault.message.startsWith(`${fault.file}:`)
            ? fault.message : `${fault.file}:${fault.line}: ${fault.message}`;
        const row = this.rows.get(text) ?? { count: 0, item: document.createElement('li') };
        row.count += 1;
        row.item.textContent = row.count === 1 ? text : `${text} (${row.count}×)`;
        this.rows.delete(text); // the newest stand last
        this.rows.set(text, row);
        this.list.append(row.item);
        for (const [oldest, { item }] of this.rows) {
            if (this.rows.size <= SHOWN_MAX) {
                break;
            }
            this.rows.delete(oldest);
            item.remove();
        }
        this.list.hidden = false;
    }
}
